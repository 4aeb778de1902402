// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/gatan/dm.h"
#include "sonde/instruments/stem/read/test_any_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  sonde::stem::testing::read_any_file(bytes, size, sonde::stem::open_dm);
  return 0;
}
