// SPDX-License-Identifier: Apache-2.0
// Any bytes are a line, or an Error.
#include "sonde/instruments/maxwell/field/test_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto all = std::as_bytes(std::span(bytes, size));
  using namespace sonde::maxwell;
  testing::check_bytes(size, [&](const FieldReading& reading) { return parse_segy(all, "fuzz.sgy", reading); });
  return 0;
}
