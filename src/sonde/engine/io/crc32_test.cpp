// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/crc32.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <span>
#include <string_view>
#include <vector>

namespace sonde {
namespace {

TEST(Crc32, OfTheDigitsIsWhatTheStandardSays) {
  constexpr std::string_view digits = "123456789";
  EXPECT_EQ(crc32_of(std::as_bytes(std::span(digits))), 0xcbf43926);  // ITU-T V.42 and every catalogue of checksums
}

TEST(Crc32, IsThatOfZlibForEveryLengthAndStart) {
  std::vector<std::byte> bytes(400);
  std::uint32_t state = 1;
  for (std::byte& each : bytes) each = static_cast<std::byte>((state = state * 1664525 + 1013904223) >> 24);
  for (std::size_t start = 0; start < 3; ++start) {
    for (std::size_t count = 0; start + count <= bytes.size(); ++count) {
      SCOPED_TRACE(count);
      EXPECT_EQ(crc32_of(std::span(bytes).subspan(start, count)),
                crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data() + start), count));
    }
  }
}

}  // namespace
}  // namespace sonde
