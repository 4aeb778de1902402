// SPDX-License-Identifier: Apache-2.0
// The direct sums, from frames and from planes, against one plain loop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/instruments/stem/image/masked_sum.h"
#include "sonde/instruments/stem/image/plane_sum.h"
#include "sonde/instruments/stem/image/test_scan.h"
#include "tests/support/devices.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using ::testing::HasSubstr;
using testing::host_elements;
using testing::random_mask;
using testing::random_scan;
using testing::TestScan;
class SumsOnEach : public sonde::testing::EachDevice {};

template <class T>
void expect_all_equal(Device device, const TestScan<T>& scan, const Mask& mask) {
  Stream stream(device);
  const std::vector<std::uint64_t> expected = scan.image(mask);
  Array image(device, {scan.positions}, DType::u64);
  masked_sum(stream, scan.frames(stream), mask, image);
  EXPECT_EQ(host_elements<std::uint64_t>(image), expected) << "from frames";
  plane_sum(stream, scan.planes(stream), mask, image);
  EXPECT_EQ(host_elements<std::uint64_t>(image), expected) << "from planes";
}

struct Case {
  Index positions, rows, cols;
  double density;
};
const Case cases[] = {
    {0, 5, 6, 0.5},      // empty scan
    {1, 1, 1, 1.0},      // one element
    {7, 5, 6, 0.4},      // odd sizes
    {7, 5, 6, 0.0},      // empty mask
    {100, 24, 40, 0.7},  // more pixels than 16-bit lanes take
    {4097, 3, 5, 0.6},   // one position more than a tile
    {300, 24, 24, 1.0},  // the whole detector
};

template <class T>
void expect_every_case(Device device) {
  unsigned seed = 0;
  for (const Case& c : cases) {
    ++seed;
    SCOPED_TRACE(::testing::Message() << c.positions << " positions, " << c.rows << " x " << c.cols);
    expect_all_equal(device, random_scan<T>(c.positions, c.rows, c.cols, seed),
                     random_mask(c.rows, c.cols, c.density, seed));
  }
}

TEST_P(SumsOnEach, EqualTheReferenceForBytes) { expect_every_case<std::uint8_t>(device()); }
TEST_P(SumsOnEach, EqualTheReferenceForU16) { expect_every_case<std::uint16_t>(device()); }
TEST_P(SumsOnEach, EqualTheReferenceForU32) { expect_every_case<std::uint32_t>(device()); }

TEST_P(SumsOnEach, LargestBytesOnAWholeDetectorDoNotWrap) {
  TestScan<std::uint8_t> scan{3, 96, 96, std::vector<std::uint8_t>(3 * 96 * 96, 255)};
  const Mask mask = random_mask(96, 96, 1.0, 1);
  ASSERT_EQ(scan.image(mask).front(), 255u * 9216);
  expect_all_equal(device(), scan, mask);
}

TEST_P(SumsOnEach, LargestU16OnAWholeDetectorNeedThirtyTwoBits) {
  TestScan<std::uint16_t> scan{2, 192, 192, std::vector<std::uint16_t>(2 * 192 * 192, 65535)};
  const Mask mask = random_mask(192, 192, 1.0, 1);
  ASSERT_EQ(scan.image(mask).front(), 2415882240u);  // above 2^31
  expect_all_equal(device(), scan, mask);
}

TEST_P(SumsOnEach, SumsBeyondThirtyTwoBitsAreExact) {
  TestScan<std::uint16_t> scan{1, 65538, 1, std::vector<std::uint16_t>(65538, 65535)};
  const Mask mask = random_mask(65538, 1, 1.0, 1);
  ASSERT_EQ(scan.image(mask).front(), 65535ull * 65538);  // 2^32 + 65534
  expect_all_equal(device(), scan, mask);
}

TEST_P(SumsOnEach, AddingAndSubtractingAgainIsExact) {
  Stream stream(device());
  const auto scan = random_scan<std::uint8_t>(200, 8, 9, 3);
  const Array planes = scan.planes(stream);
  const Mask mask = random_mask(8, 9, 0.5, 4), other = random_mask(8, 9, 0.5, 5);
  Array image(device(), {200}, DType::u64);
  plane_sum(stream, planes, mask.pixels, image);
  plane_sum(stream, planes, other.pixels, image, Sign::subtract);  // goes below zero and wraps
  plane_sum(stream, planes, other.pixels, image, Sign::add);
  EXPECT_EQ(host_elements<std::uint64_t>(image), scan.image(mask));
}

TEST_P(SumsOnEach, UpdateAddsAndRemovesInOnePass) {
  Stream stream(device());
  const auto scan = random_scan<std::uint16_t>(200, 8, 9, 6);
  const Mask before = make_mask(8, 9, {1, 2, 3, 40}), after = make_mask(8, 9, {2, 3, 41, 70, 71});
  const std::vector<Index> added = {41, 70, 71}, removed = {1, 40};
  Array image(device(), {200}, DType::u64), updated(device(), {200}, DType::u64);
  plane_sum(stream, scan.planes(stream), before, image);
  plane_update(stream, scan.planes(stream), image, added, removed, updated);
  EXPECT_EQ(host_elements<std::uint64_t>(updated), scan.image(after)) << "from planes";
  masked_update(stream, scan.frames(stream), image, added, removed, image);
  EXPECT_EQ(host_elements<std::uint64_t>(image), scan.image(after)) << "from frames, in place";
}

TEST_P(SumsOnEach, BinningTheDetectorAndTheMaskGivesTheSameImage) {
  Stream stream(device());
  const Index bin = 3, rows = 12, cols = 15;
  const auto fine = random_scan<std::uint8_t>(60, rows, cols, 10);
  TestScan<std::uint16_t> coarse{60, rows / bin, cols / bin, std::vector<std::uint16_t>(60 * 4 * 5, 0)};
  for (Index position = 0; position < 60; ++position)
    for (Index pixel = 0; pixel < rows * cols; ++pixel) {
      const Index bins = pixel / cols / bin * (cols / bin) + pixel % cols / bin;
      auto& sum = coarse.counts[static_cast<std::size_t>(position * 20 + bins)];
      sum = static_cast<std::uint16_t>(sum + fine.at(position, pixel));
    }
  const Mask bins = make_mask(4, 5, {1, 2, 7, 13, 19});
  std::vector<Index> pixels;
  for (Index pixel = 0; pixel < rows * cols; ++pixel)
    if (std::binary_search(bins.pixels.begin(), bins.pixels.end(), pixel / cols / bin * 5 + pixel % cols / bin))
      pixels.push_back(pixel);
  Array image(device(), {60}, DType::u64), binned(device(), {60}, DType::u64);
  plane_sum(stream, fine.planes(stream), make_mask(rows, cols, pixels), image);
  plane_sum(stream, coarse.planes(stream), bins, binned);
  EXPECT_EQ(host_elements<std::uint64_t>(binned), host_elements<std::uint64_t>(image));
}

TEST(MaskedSum, TakesStridedFrames) {
  Stream stream;
  auto scan = random_scan<std::uint16_t>(30, 8, 10, 7);
  // Every second row, columns 1 to 8, and every third column of those.
  const Array part = Array::borrowed(scan.counts.data() + 1, {30, 4, 3}, {80, 20, 3}, DType::u16, nullptr);
  const Mask mask = make_mask(4, 3, {0, 1, 2, 5, 6, 11});
  Array image(Device::cpu(), {30}, DType::u64);
  masked_sum(stream, part, mask, image);
  for (Index position = 0; position < 30; ++position) {
    std::uint64_t expected = 0;
    for (const Index pixel : mask.pixels) expected += scan.at(position, pixel / 3 * 20 + 1 + pixel % 3 * 3);
    EXPECT_EQ((image.view<std::uint64_t, 1>()(position)), expected);
  }
}

TEST_P(SumsOnEach, WeightedSumsOfCountsAreDoublePrecision) {
  Stream stream(device());
  const auto scan = random_scan<std::uint16_t>(100, 8, 9, 8);
  std::vector<Index> pixels;
  std::vector<float> weights;
  for (Index pixel = 0; pixel < 72; pixel += 2) {
    pixels.push_back(pixel);
    weights.push_back(static_cast<float>(pixel % 7) / 64 + 0.25f);  // exact in binary, so every order gives one sum
  }
  const Mask mask = make_mask(8, 9, pixels, weights);
  Array from_frames(device(), {100}, DType::f64), from_planes(device(), {100}, DType::f64);
  masked_sum(stream, scan.frames(stream), mask, from_frames);
  plane_sum(stream, scan.planes(stream), mask, from_planes);
  std::vector<double> expected(100, 0);
  for (Index position = 0; position < 100; ++position)
    for (std::size_t i = 0; i < mask.pixels.size(); ++i)
      expected[static_cast<std::size_t>(position)] +=
          static_cast<double>(mask.weights[i]) * scan.at(position, mask.pixels[i]);
  EXPECT_EQ(host_elements<double>(from_frames), expected);
  EXPECT_EQ(host_elements<double>(from_planes), expected);
}

TEST_P(SumsOnEach, FloatsAreSummedInDoublePrecision) {
  Stream stream(device());
  auto scan = random_scan<float>(50, 6, 7, 9);
  scan.counts[0] = 16777216.f;  // 2^24: adding one in single precision would lose it
  scan.counts[1] = 1.f;
  const Mask mask = random_mask(6, 7, 1.0, 1);
  std::vector<double> expected(50, 0);
  for (Index position = 0; position < 50; ++position)
    for (const Index pixel : mask.pixels)
      expected[static_cast<std::size_t>(position)] += static_cast<double>(scan.at(position, pixel));
  Array image(device(), {50}, DType::f64);
  masked_sum(stream, scan.frames(stream), mask, image);
  EXPECT_EQ(host_elements<double>(image), expected);  // counts are multiples of 1/256: exact in any order
  plane_sum(stream, scan.planes(stream), mask, image);
  EXPECT_EQ(host_elements<double>(image), expected);
}

TEST(MaskedSum, MaskOfAnotherSizeIsAnError) {
  Stream stream;
  const Array frames = make_frames(Device::cpu(), 4, 5, 6, DType::u8);
  Array image(Device::cpu(), {4}, DType::u64);
  const std::string text =
      sonde::testing::error_of(ErrorKind::bad_input, [&] { masked_sum(stream, frames, make_mask(6, 5, {1}), image); });
  EXPECT_THAT(text, HasSubstr("a mask of 6 x 5 pixels and a detector of 5 x 6"));
  EXPECT_THAT(text, HasSubstr("bin the mask like the data"));
}

TEST(MaskedSum, ImageOfAnotherTypeIsAnError) {
  Stream stream;
  const Array frames = make_frames(Device::cpu(), 4, 5, 6, DType::u8);
  Array image(Device::cpu(), {4}, DType::u32);
  EXPECT_THAT(
      sonde::testing::error_of(ErrorKind::bad_input, [&] { masked_sum(stream, frames, make_mask(5, 6, {1}), image); }),
      HasSubstr("an image of u32 with shape (4,), expected dense u64 with shape (4,)"));
}

TEST(PlaneSum, MaskOfAnotherSizeIsAnError) {
  Stream stream;
  const Array planes = make_planes(Device::cpu(), 4, 5, 6, DType::u8);
  Array image(Device::cpu(), {4}, DType::u64);
  EXPECT_THAT(
      sonde::testing::error_of(ErrorKind::bad_input, [&] { plane_sum(stream, planes, make_mask(5, 5, {1}), image); }),
      HasSubstr("a mask of 5 x 5 pixels and planes of 30 pixels"));
}

TEST(PlaneSum, PixelOutsideIsAnError) {
  Stream stream;
  const Array planes = make_planes(Device::cpu(), 4, 5, 6, DType::u8);
  Array image(Device::cpu(), {4}, DType::u64);
  const std::vector<Index> pixels = {0, 30};
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [&] { plane_sum(stream, planes, pixels, image); }),
              HasSubstr("pixel 30 is outside a detector of 30 pixels"));
}

INSTANTIATE_EACH_DEVICE(SumsOnEach);

}  // namespace
}  // namespace sonde::stem
