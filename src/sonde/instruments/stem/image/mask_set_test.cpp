// SPDX-License-Identifier: Apache-2.0
// Sums over many masks at a time against one plain loop for each.
#include "sonde/instruments/stem/image/mask_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/stem/image/masked_sum.h"
#include "sonde/instruments/stem/image/test_scan.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;
using testing::host_elements;
using testing::random_mask;
using testing::random_scan;
using testing::TestScan;

std::vector<Mask> rings(Index rows, Index cols, int count, double width) {
  std::vector<std::vector<Index>> pixels(static_cast<std::size_t>(count));
  for (Index q = 0; q < rows * cols; ++q) {
    const double row = static_cast<double>(q / cols) - 0.4 * static_cast<double>(rows),
                 col = static_cast<double>(q % cols) - 0.6 * static_cast<double>(cols);
    if (const double ring = std::hypot(row, col) / width; ring < count)
      pixels[static_cast<std::size_t>(ring)].push_back(q);
  }
  std::vector<Mask> masks;
  for (auto& each : pixels) masks.push_back(make_mask(rows, cols, std::move(each)));
  return masks;
}

std::vector<Mask> random_masks(Index rows, Index cols, int count, double density) {
  std::vector<Mask> masks;
  for (int i = 0; i < count; ++i) masks.push_back(random_mask(rows, cols, density, static_cast<unsigned>(i + 1)));
  return masks;
}

/// The set itself, whether or not it pays, and masked_sums().
template <class T>
void expect_sums(const TestScan<T>& scan, const std::vector<Mask>& masks) {
  const MaskSet set = MaskSet::prepare(masks);
  MaskSet::Scratch scratch;
  std::vector<std::uint64_t> sums(masks.size() * MaskSet::lanes);
  const T* few[MaskSet::lanes];
  for (Index k = 0; k < MaskSet::lanes; ++k) few[k] = scan.counts.data() + k % scan.positions * scan.pixels();
  set.run(few, scratch, sums.data());
  Stream stream;
  std::vector<Array> images;
  for (std::size_t i = 0; i < masks.size(); ++i) images.emplace_back(Device::cpu(), Shape{scan.positions}, DType::u64);
  masked_sums(stream, scan.frames(stream), masks, images);
  for (std::size_t i = 0; i < masks.size(); ++i) {
    SCOPED_TRACE(i);
    const std::vector<std::uint64_t> expected = scan.image(masks[i]);
    EXPECT_EQ(host_elements<std::uint64_t>(images[i]), expected);
    for (Index k = 0; k < MaskSet::lanes; ++k)
      EXPECT_EQ(sums[i * MaskSet::lanes + static_cast<std::size_t>(k)],
                expected[static_cast<std::size_t>(k % scan.positions)]);
  }
}

template <class T>
void expect_every_shape() {
  for (const auto& [positions, rows, cols] : {std::array<Index, 3>{1, 1, 1}, {7, 5, 6}, {8, 24, 40}, {35, 40, 53}}) {
    SCOPED_TRACE(::testing::Message() << positions << " positions, " << rows << " x " << cols);
    const auto scan = random_scan<T>(positions, rows, cols, static_cast<unsigned>(positions));
    expect_sums(scan, rings(rows, cols, 20, 2.3));
    expect_sums(scan, random_masks(rows, cols, 20, 0.4));
    expect_sums(scan, random_masks(rows, cols, 3, 0));
  }
}

TEST(MaskSet, EqualsAPlainLoopForBytes) { expect_every_shape<std::uint8_t>(); }
TEST(MaskSet, EqualsAPlainLoopForU16) { expect_every_shape<std::uint16_t>(); }
TEST(MaskSet, EqualsAPlainLoopForU32) { expect_every_shape<std::uint32_t>(); }

TEST(MaskSet, EqualMasksAndMasksInsideOthersAreSummedEach) {
  std::vector<Mask> masks = {random_mask(9, 14, 1, 1), random_mask(9, 14, 0.5, 2), random_mask(9, 14, 0.5, 2)};
  masks.push_back(make_mask(9, 14, {masks[1].pixels.begin(), masks[1].pixels.begin() + 5}));
  expect_sums(random_scan<std::uint16_t>(11, 9, 14, 3), masks);
}

TEST(MaskSet, LargestCountsAreExactBeyondThirtyTwoBits) {
  // 65538 pixels of 65535 are 2^32 + 65534; the detector has more than one sum of 32 bits takes.
  const TestScan<std::uint16_t> scan{1, 3, 21846, std::vector<std::uint16_t>(65538, 65535)};
  const std::vector<Mask> masks = {random_mask(3, 21846, 1, 1), random_mask(3, 21846, 0.5, 2)};
  ASSERT_EQ(scan.image(masks[0]).front(), 4295032830u);
  expect_sums(scan, masks);
}

TEST(MaskSet, DisjointMasksShareAGroupOfOneAdditionPerPixel) {
  const std::vector<Mask> masks = rings(64, 70, 100, 0.7);
  Index area = 0;
  for (const Mask& mask : masks) area += mask.area();
  const MaskSet set = MaskSet::prepare(masks);
  EXPECT_EQ(set.groups(), 1);
  EXPECT_EQ(set.additions(), area);
  EXPECT_TRUE(set.pays());
}

TEST(MaskSet, MasksAtRandomHaveSevenInAGroup) {
  // 2^7 = 128 regions.
  EXPECT_EQ(MaskSet::prepare(random_masks(64, 70, 21, 0.5)).groups(), 3);
}

TEST(MaskSet, AFewSmallMasksDoNotPay) {
  std::vector<Mask> masks;
  for (const Index first : {Index{3}, Index{500}}) masks.push_back(make_mask(64, 70, {first, first + 1}));
  EXPECT_FALSE(MaskSet::prepare(masks).pays());
}

TEST(MaskSet, ImagesDoNotDependOnTheNumberOfThreads) {
  const auto scan = random_scan<std::uint16_t>(301, 20, 26, 5);
  const std::vector<Mask> masks = rings(20, 26, 12, 1.1);
  for (const int threads : {1, 2, 7}) {
    set_thread_count(threads);
    expect_sums(scan, masks);
  }
  set_thread_count(0);
}

TEST(MaskSet, WeightedMasksAndFloatsAreSummedOneByOne) {
  Stream stream;
  const auto scan = random_scan<std::uint16_t>(9, 6, 7, 5);
  const Array frames = scan.frames(stream);
  std::vector<Mask> masks = rings(6, 7, 4, 1.5);
  masks.push_back(make_mask(6, 7, {3, 4, 20}, {0.5F, 2, 1.25F}));
  EXPECT_FALSE(sums_together(stream, frames, masks));
  std::vector<Array> images;
  for (const Mask& mask : masks) images.emplace_back(Device::cpu(), Shape{9}, mask.boolean() ? DType::u64 : DType::f64);
  masked_sums(stream, frames, masks, images);
  EXPECT_EQ(host_elements<std::uint64_t>(images[1]), scan.image(masks[1]));
  EXPECT_EQ(host_elements<double>(images[4])[8], 0.5 * scan.at(8, 3) + 2 * scan.at(8, 4) + 1.25 * scan.at(8, 20));
}

TEST(MaskSet, AMaskOfAnotherDetectorIsRefused) {
  Stream stream;
  const Array frames = random_scan<std::uint16_t>(9, 6, 7, 5).frames(stream);
  const std::vector<Mask> masks = {random_mask(6, 7, 0.5, 1), random_mask(7, 6, 0.5, 1)};
  std::vector<Array> images;
  for (int i = 0; i < 2; ++i) images.emplace_back(Device::cpu(), Shape{9}, DType::u64);
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { masked_sums(stream, frames, masks, images); }),
              HasSubstr("a mask of 7 x 6 pixels and a detector of 6 x 7"));
}

}  // namespace
}  // namespace sonde::stem
