// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/panel/frame.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/support/errors.h"

namespace sonde::panel {
namespace {

std::uint8_t byte_at(const FrameHeader& header, std::size_t i) { return std::to_integer<std::uint8_t>(header[i]); }

// Offsets by hand from the protocol's table, so that a slip in the encoder cannot agree with itself.
TEST(Frame, HeaderHasTheBytesOfTheProtocol) {
  const std::vector<std::uint16_t> values = {1, 2, 3, 500, 5, 6};
  Frame frame = make_frame<std::uint16_t>(FrameKind::spectrum, 2, 3, values);
  frame.request = 0x01020304;
  frame.dataset = 7;
  frame.item = 9;
  frame.channel = 0x0203;
  frame.cached = true;
  frame.compute_us = 1000;
  frame.mask_hash = 0xDEADBEEF;
  const FrameHeader header = encode_header(frame);
  const std::uint8_t expected[] = {
      'S', 'N', 'D', '1', 1, 0, 3, 0, 4, 3, 2, 1, 7, 0, 0, 0, 9, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 1, 2 | 4, 3, 2,
  };
  for (std::size_t i = 0; i < std::size(expected); ++i) EXPECT_EQ(byte_at(header, i), expected[i]) << "byte " << i;
  float low = 0, high = 0;
  double sum = 0;
  std::memcpy(&low, header.data() + 32, 4);
  std::memcpy(&high, header.data() + 36, 4);
  std::memcpy(&sum, header.data() + 40, 8);
  EXPECT_EQ(low, 1);
  EXPECT_EQ(high, 500);
  EXPECT_EQ(sum, 517);
  const std::uint8_t tail[] = {0xE8, 3, 0, 0, 12, 0, 0, 0, 0xEF, 0xBE, 0xAD, 0xDE, 0, 0, 0, 0};
  for (std::size_t i = 0; i < std::size(tail); ++i) EXPECT_EQ(byte_at(header, 48 + i), tail[i]) << "byte " << 48 + i;
}

TEST(Frame, HeaderReadsBack) {
  const std::vector<float> values = {-1.5F, NAN, 2};
  Frame frame = make_frame<float>(FrameKind::profile, 1, 3, values);
  frame.preview = true;
  const Frame back = decode_header(encode_header(frame));
  EXPECT_EQ(back.kind, FrameKind::profile);
  EXPECT_EQ(back.cols, 3U);
  EXPECT_EQ(back.low, -1.5F);
  EXPECT_EQ(back.high, 2);
  EXPECT_EQ(back.sum, 0.5);
  EXPECT_TRUE(back.preview);
  EXPECT_FALSE(back.cached);
}

TEST(Frame, CountsTakeTheSmallestTypeThatHoldsThem) {
  const auto type = [](std::uint64_t largest) {
    const std::vector<std::uint64_t> counts = {0, largest};
    return make_count_frame(FrameKind::image, 1, 2, counts).type;
  };
  EXPECT_EQ(type(255), FrameType::u8);
  EXPECT_EQ(type(256), FrameType::u16);
  EXPECT_EQ(type(65535), FrameType::u16);
  EXPECT_EQ(type(65536), FrameType::u32);
  EXPECT_EQ(type(0xFFFFFFFF), FrameType::u32);
  EXPECT_EQ(type(0x100000000), FrameType::u64);
}

TEST(Frame, PayloadHoldsTheValues) {
  const std::vector<std::uint64_t> counts = {3, 70000};
  const Frame frame = make_count_frame(FrameKind::image, 2, 1, counts);
  ASSERT_EQ(frame.payload.size(), 8U);
  std::uint32_t second = 0;
  std::memcpy(&second, frame.payload.data() + 4, 4);
  EXPECT_EQ(second, 70000U);
}

TEST(Frame, CountsTellTheirSmallestLargestAndSum) {
  std::vector<std::uint64_t> counts(1000);  // more than a vector register holds, and no multiple of one
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = 7 + (i * 389) % 1000;  // 7 to 1006, each once
  const Frame frame = make_count_frame(FrameKind::image, 8, 125, counts);
  EXPECT_EQ(frame.low, 7);
  EXPECT_EQ(frame.high, 1006);
  EXPECT_EQ(frame.sum, 1000 * 7 + 999 * 1000 / 2);
  const Frame none = make_count_frame(FrameKind::image, 0, 5, {});
  EXPECT_EQ(none.low, 0);
  EXPECT_EQ(none.high, 0);
  EXPECT_TRUE(none.payload.empty());
}

TEST(Frame, TheSumOfCountsDoesNotWrap) {
  const std::uint64_t large = std::uint64_t{3} << 62;
  const std::vector<std::uint64_t> counts = {large, large, large};
  EXPECT_EQ(make_count_frame(FrameKind::image, 1, 3, counts).sum, 3 * std::ldexp(3.0, 62));
}

TEST(Frame, HeadersThatDoNotAddUpAreRefused) {
  using sonde::testing::error_of;
  const std::vector<std::uint32_t> values = {1, 2};
  const FrameHeader good = encode_header(make_frame<std::uint32_t>(FrameKind::image, 1, 2, values));
  const auto with = [&](std::size_t at, std::uint8_t value) {
    FrameHeader header = good;
    header[at] = std::byte{value};
    return header;
  };
  const auto refused = [&](const FrameHeader& header) {
    return error_of(ErrorKind::bad_input, [&] { (void)decode_header(header); });
  };
  EXPECT_THAT(refused(with(0, 'X')), ::testing::HasSubstr("SND1"));
  EXPECT_THAT(refused(with(4, 2)), ::testing::HasSubstr("version 2"));
  EXPECT_THAT(refused(with(28, 9)), ::testing::HasSubstr("9"));
  EXPECT_THAT(refused(with(24, 3)), ::testing::HasSubstr("announces 8 bytes"));
  EXPECT_THAT(refused(with(52, 7)), ::testing::HasSubstr("announces 7 bytes"));
  FrameHeader huge = good;
  for (std::size_t i = 20; i < 28; ++i) huge[i] = std::byte{0xFF};
  EXPECT_THAT(refused(huge), ::testing::HasSubstr("4294967295"));
}

TEST(Frame, ValuesMustFillTheirRowsAndColumns) {
  const std::vector<float> values(5);
  EXPECT_THAT(
      sonde::testing::error_of(ErrorKind::bad_input, [&] { (void)make_frame<float>(FrameKind::image, 2, 3, values); }),
      ::testing::HasSubstr("2 x 3 cannot hold 5"));
}

}  // namespace
}  // namespace sonde::panel
