// SPDX-License-Identifier: Apache-2.0
// Any bytes are a line, or an Error; the text before the first zero byte stands in for the .rad file.
#include "sonde/instruments/maxwell/field/test_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto all = std::as_bytes(std::span(bytes, size));
  using namespace sonde::maxwell;
  for (const std::size_t sample_bytes : {std::size_t{2}, std::size_t{4}})
    testing::check_bytes(
        size, [&](const FieldReading& reading) { return parse_mala(testing::divided(all), sample_bytes, reading); });
  return 0;
}
