// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/image/bitplane.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "sonde/instruments/stem/image/bitplane_kernels.h"
#include "sonde/instruments/stem/image/test_scan.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using ::testing::HasSubstr;
using testing::random_mask;
using testing::random_scan;
using testing::TestScan;

template <class T>
std::vector<std::byte> chunk_of(const TestScan<T>& frame, const BitshuffleFormat& format) {
  return encode_bitshuffle(std::as_bytes(std::span(frame.counts)), format);
}

/// Sixteen masks and the moments of one frame, by every kernel, against plain loops.
template <class T>
void expect_equal(Index rows, Index cols, std::size_t block_elements, BitshuffleCodec codec) {
  SCOPED_TRACE(::testing::Message() << rows << " x " << cols << ", " << sizeof(T) << " bytes, blocks of "
                                    << block_elements);
  const TestScan<T> frame = random_scan<T>(1, rows, cols, 31);
  BitplaneMasks::Options options;
  options.good.assign(static_cast<std::size_t>(rows * cols), 1);
  for (std::size_t pixel = 3; pixel < options.good.size(); pixel += 11) options.good[pixel] = 0;
  options.moments = true;
  std::vector<Mask> masks;
  for (unsigned i = 0; i < BitplaneSums::most_masks; ++i) masks.push_back(random_mask(rows, cols, i / 15.0, i));
  const BitshuffleFormat format{sizeof(T), block_elements, codec};
  const std::vector<std::byte> chunk = chunk_of(frame, format);
  const BitplaneMasks prepared = BitplaneMasks::prepare(rows, cols, sizeof(T), masks, options);

  BitplaneSums expected;
  for (Index pixel = 0; pixel < rows * cols; ++pixel) {
    if (options.good[static_cast<std::size_t>(pixel)] == 0) continue;
    const std::uint64_t count = frame.at(0, pixel);
    expected.total += count;
    expected.moment_row += static_cast<std::uint64_t>(pixel / cols) * count;
    expected.moment_col += static_cast<std::uint64_t>(pixel % cols) * count;
    for (std::size_t i = 0; i < masks.size(); ++i)
      if (std::binary_search(masks[i].pixels.begin(), masks[i].pixels.end(), pixel)) expected.masks[i] += count;
  }
  BitshuffleScratch scratch;
  for (const BitplaneKernels* kernels : usable_bitplane_kernels()) {
    SCOPED_TRACE(kernels->name);
    BitplaneSums sums;
    prepared.evaluate(*kernels, chunk, format, scratch, sums);
    EXPECT_EQ(sums.masks, expected.masks);
    EXPECT_EQ(sums.total, expected.total);
    EXPECT_EQ(sums.moment_row, expected.moment_row);
    EXPECT_EQ(sums.moment_col, expected.moment_col);
    EXPECT_FALSE(sums.sentinel);
  }
}

template <class T>
void expect_all_shapes() {
  expect_equal<T>(192, 192, 0, BitshuffleCodec::lz4);
  expect_equal<T>(96, 96, 0, BitshuffleCodec::lz4);
  expect_equal<T>(193, 191, 0, BitshuffleCodec::lz4);  // a short last block and a tail
  expect_equal<T>(5, 7, 0, BitshuffleCodec::lz4);
  expect_equal<T>(1, 5, 0, BitshuffleCodec::lz4);  // nothing but a tail
  expect_equal<T>(40, 40, 72, BitshuffleCodec::lz4);
  expect_equal<T>(40, 40, 64, BitshuffleCodec::none);
  expect_equal<T>(40, 40, 128, BitshuffleCodec::zstd);
}

TEST(BitplaneMasks, EqualPlainLoopsForBytes) { expect_all_shapes<std::uint8_t>(); }
TEST(BitplaneMasks, EqualPlainLoopsForU16) { expect_all_shapes<std::uint16_t>(); }
TEST(BitplaneMasks, EqualPlainLoopsForU32) { expect_all_shapes<std::uint32_t>(); }

TEST(BitplaneMasks, MomentsMayBeTakenOverAMask) {
  const auto frame = random_scan<std::uint16_t>(1, 20, 24, 32);
  BitplaneMasks::Options options;
  options.moments = true;
  options.moments_of = random_mask(20, 24, 0.4, 33);
  const BitplaneMasks prepared = BitplaneMasks::prepare(20, 24, 2, {}, options);
  std::uint64_t total = 0, moment_row = 0;
  for (const Index pixel : options.moments_of->pixels) {
    total += frame.at(0, pixel);
    moment_row += static_cast<std::uint64_t>(pixel / 24) * frame.at(0, pixel);
  }
  BitshuffleScratch scratch;
  BitplaneSums sums;
  prepared.evaluate(chunk_of(frame, {2}), {2}, scratch, sums);
  EXPECT_EQ(sums.total, total);
  EXPECT_EQ(sums.moment_row, moment_row);
}

TEST(BitplaneMasks, SetsApartLeaveNoDataOutPixelByPixel) {
  // 2501 pixels: blocks of 320, a short one, and a tail of one pixel.
  TestScan<std::uint16_t> frame = random_scan<std::uint16_t>(1, 41, 61, 35);
  for (std::size_t pixel = 0; pixel < frame.counts.size(); pixel += 7) frame.counts[pixel] = 65535;
  BitplaneMasks::Options options;
  options.good.assign(2501, 0);
  options.sentinel = 65535;
  for (unsigned i = 0; i < 3; ++i) options.apart.push_back(random_mask(41, 61, 0.05 + 0.4 * i, 40 + i));
  options.apart[1].pixels.push_back(2500);  // the tail
  const BitplaneMasks prepared = BitplaneMasks::prepare(41, 61, 2, {}, options);
  BitshuffleScratch scratch;
  for (const std::size_t block_elements :
       {std::size_t{320}, std::size_t{72}}) {  // of 72: eight bytes of pixels lie in two blocks
    SCOPED_TRACE(block_elements);
    BitplaneSums sums;
    prepared.evaluate(chunk_of(frame, {2, block_elements}), {2, block_elements}, scratch, sums);
    EXPECT_FALSE(sums.sentinel);  // no good pixel holds it
    for (std::size_t i = 0; i < 3; ++i) {
      std::uint64_t sum = 0, no_data = 0;
      for (const Index pixel : make_mask(41, 61, options.apart[i].pixels).pixels) {
        const std::uint64_t value = frame.at(0, pixel);
        no_data += value == 65535 ? 1 : 0;
        sum += value == 65535 ? 0 : value;
      }
      EXPECT_EQ(sums.apart[i].sum, sum);
      EXPECT_EQ(sums.apart[i].no_data, no_data);
      EXPECT_GT(no_data, 0u);
    }
  }
}

/// A frame of small counts with one special value at `pixel`.
template <class T>
bool finds(T value, Index pixel, std::optional<std::uint64_t> sentinel, bool pixel_is_good) {
  TestScan<T> frame{1, 50, 50, std::vector<T>(2501, T{3})};
  frame.counts.resize(2500);
  frame.counts[static_cast<std::size_t>(pixel)] = value;
  frame.counts[static_cast<std::size_t>((pixel + 1) % 2500)] = std::numeric_limits<T>::max() / 2;
  BitplaneMasks::Options options;
  options.sentinel = sentinel;
  options.good.assign(2500, 1);
  options.good[static_cast<std::size_t>(pixel)] = pixel_is_good;
  const BitplaneMasks prepared =
      BitplaneMasks::prepare(50, 50, sizeof(T), std::vector<Mask>{random_mask(50, 50, 1, 1)}, options);
  BitshuffleScratch scratch;
  BitplaneSums sums;
  prepared.evaluate(chunk_of(frame, {sizeof(T), 320}), {sizeof(T), 320}, scratch, sums);
  return sums.sentinel;
}

TEST(BitplaneMasks, SentinelInAGoodPixelIsSeen) {
  for (const Index pixel : {0, 7, 319, 320, 1234, 2495, 2496, 2499}) {  // the last four lie in the tail
    SCOPED_TRACE(pixel);
    EXPECT_TRUE(finds<std::uint32_t>(0xFFFFFFFFu, pixel, 0xFFFFFFFFu, true));
    EXPECT_TRUE(finds<std::uint16_t>(65535, pixel, 65535, true));
    EXPECT_TRUE(finds<std::uint16_t>(40000, pixel, 40000, true));  // any value may be the sentinel
  }
}

TEST(BitplaneMasks, SentinelInABadPixelIsNot) {
  for (const Index pixel : {0, 1234, 2499}) EXPECT_FALSE(finds<std::uint32_t>(0xFFFFFFFFu, pixel, 0xFFFFFFFFu, false));
}

TEST(BitplaneMasks, OtherLargeValuesAreNoSentinels) {
  EXPECT_FALSE(finds<std::uint16_t>(65534, 10, 65535, true));
  EXPECT_FALSE(finds<std::uint8_t>(255, 10, std::nullopt, true));
}

TEST(BitplaneMasks, BlocksOutsideTheMasksAreNotLookedAt) {
  // Blocks of 80 elements, two rows each; the mask lies in rows 4 and 5, the third block.
  const auto frame = random_scan<std::uint16_t>(1, 40, 40, 34);
  Mask mask{40, 40, {165, 200, 239}, {}};
  const std::uint64_t expected = frame.at(0, 165) + frame.at(0, 200) + frame.at(0, 239);
  const BitplaneMasks prepared = BitplaneMasks::prepare(40, 40, 2, std::vector<Mask>{mask}, {});
  std::vector<std::byte> chunk = chunk_of(frame, {2, 80});
  chunk[16] = chunk[17] = std::byte{0xff};  // the first block is no LZ4 any more
  BitshuffleScratch scratch;
  BitplaneSums sums;
  prepared.evaluate(chunk, {2, 80}, scratch, sums);
  EXPECT_EQ(sums.masks[0], expected);
  const auto all = BitplaneMasks::prepare(40, 40, 2, std::vector<Mask>{random_mask(40, 40, 1, 1)}, {});
  sonde::testing::error_of(ErrorKind::bad_file, [&] { all.evaluate(chunk, {2, 80}, scratch, sums); });
  chunk.pop_back();  // lengths are followed to the end whatever the masks
  sonde::testing::error_of(ErrorKind::bad_file, [&] { prepared.evaluate(chunk, {2, 80}, scratch, sums); });
}

TEST(BitplaneMasks, MistakesAreErrors) {
  const auto error = [](std::span<const Mask> masks, std::size_t element_bytes) {
    return sonde::testing::error_of(ErrorKind::bad_input,
                                    [&] { (void)BitplaneMasks::prepare(4, 4, element_bytes, masks, {}); });
  };
  const std::vector<Mask> weighted = {make_mask(4, 4, {1, 2}, {0.5f, 1.f})}, other = {make_mask(4, 5, {1})};
  EXPECT_THAT(error(weighted, 2), HasSubstr("weighted masks cannot be evaluated on bit planes"));
  EXPECT_THAT(error(other, 2), HasSubstr("a mask of 4 x 5 pixels and a detector of 4 x 4"));
  EXPECT_THAT(error(std::vector<Mask>(17, make_mask(4, 4, {1})), 2), HasSubstr("17 masks in one pass, at most 16"));
  EXPECT_THAT(error({}, 3), HasSubstr("bit planes of elements of 3 bytes"));
  const BitplaneMasks prepared = BitplaneMasks::prepare(4, 4, 2, {}, {});
  BitshuffleScratch scratch;
  BitplaneSums sums;
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [&] { prepared.evaluate({}, {4}, scratch, sums); }),
              HasSubstr("masks prepared for elements of 2 bytes, the data have 4"));
}

TEST(BitplaneMasks, BrokenChunkIsAnError) {
  const auto frame = random_scan<std::uint16_t>(1, 64, 64, 34);
  std::vector<std::byte> chunk = chunk_of(frame, {2});
  chunk.resize(chunk.size() / 2);
  const BitplaneMasks prepared = BitplaneMasks::prepare(64, 64, 2, {}, {});
  BitshuffleScratch scratch;
  BitplaneSums sums;
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_file, [&] { prepared.evaluate(chunk, {2}, scratch, sums); }),
              HasSubstr("block 0"));
}

}  // namespace
}  // namespace sonde::stem
