// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/test_any_file.h"
#include "sonde/instruments/stem/read/tvips/tvips.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  sonde::stem::testing::read_any_file(bytes, size, sonde::stem::open_tvips);
  return 0;
}
