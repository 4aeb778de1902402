// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/correct/bad_pixels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "tests/support/errors.h"
#include "tests/support/pixel_sums.h"

namespace sonde::stem {
namespace {

using sonde::testing::PixelSums;
using sonde::testing::places;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(BadPixels, AHotPixelIsThreeTimesBrighterThanItsBrightestNeighbour) {
  // f m8 + k sqrt(m8 + 1) = 3 x 99 + 8 x 10 = 377 is the limit itself.
  PixelSums sums(9, 9, 99);
  sums(4, 4) = 377;
  EXPECT_THAT(find_bad_pixels(sums.statistics()), IsEmpty());
  sums(4, 4) = 378;
  const auto found = find_bad_pixels(sums.statistics());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].row, 4);
  EXPECT_EQ(found[0].col, 4);
  EXPECT_EQ(found[0].sum, 378u);
  EXPECT_EQ(found[0].neighbour_max, 99u);
  EXPECT_EQ(found[0].reason, BadPixelReason::hot);
}

TEST(BadPixels, ADeadPixelIsTenTimesDarkerThanItsNeighbours) {
  // med / f' - k sqrt(med) = 1000 - 8 x 100 = 200 is the limit itself.
  PixelSums sums(9, 9, 10000);
  sums(4, 4) = 200;
  EXPECT_THAT(find_bad_pixels(sums.statistics()), IsEmpty());
  sums(4, 4) = 199;
  const auto found = find_bad_pixels(sums.statistics());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].reason, BadPixelReason::dead);
}

TEST(BadPixels, TheSecondPassFindsWhatAHotterNeighbourHid) {
  PixelSums sums(9, 9, 10);
  sums(4, 4) = 100000;
  sums(4, 5) = 5000;
  EXPECT_EQ(places(find_bad_pixels(sums.statistics())), (std::set<std::pair<Index, Index>>{{4, 4}, {4, 5}}));
  BadPixelOptions once;
  once.passes = 1;
  EXPECT_EQ(places(find_bad_pixels(sums.statistics(), once)), (std::set<std::pair<Index, Index>>{{4, 4}}));
}

TEST(BadPixels, MaskedPixelsNeitherJudgeNorAreJudged) {
  PixelSums sums(9, 9, 10);
  sums(4, 4) = 100000;
  sums(4, 5) = 5000;
  std::vector<std::uint8_t> good(81, 1);
  good[4 * 9 + 4] = 0;
  PixelStatistics statistics = sums.statistics();
  statistics.good = good;
  const auto found = find_bad_pixels(statistics);
  EXPECT_EQ(places(found), (std::set<std::pair<Index, Index>>{{4, 5}}));
  EXPECT_EQ(found.at(0).neighbour_max, 10u);
}

TEST(BadPixels, TheOuterRingJoinsWhenFewerThanFourNeighboursAreGood) {
  // Three good neighbours are dark, but the ring of 12 shows that the pixel is nothing special.
  PixelSums sums(9, 9, 1000);
  std::vector<std::uint8_t> good(81, 0);
  for (const auto& [row, col] : {std::pair{3, 3}, {3, 4}, {3, 5}})
    good[static_cast<std::size_t>(row * 9 + col)] = 1, sums(row, col) = 1;
  good[4 * 9 + 4] = 1;
  PixelStatistics statistics = sums.statistics();
  statistics.good = good;
  EXPECT_EQ(places(find_bad_pixels(statistics)), (std::set<std::pair<Index, Index>>{{4, 4}}));
  good[6 * 9 + 4] = 1;  // two rows below: in the ring
  EXPECT_THAT(find_bad_pixels(statistics), IsEmpty());
}

TEST(BadPixels, APixelAloneIsNotJudged) {
  PixelSums sums(9, 9);
  sums(4, 4) = 1000000;
  std::vector<std::uint8_t> good(81, 0);
  good[40] = 1;
  PixelStatistics statistics = sums.statistics();
  statistics.good = good;
  EXPECT_THAT(find_bad_pixels(statistics), IsEmpty());
}

TEST(BadPixels, ManySentinelsMakeAPixelBad) {
  const PixelSums sums(4, 4, 7);
  std::vector<std::uint64_t> sentinels(16, 0);
  sentinels[5] = 11;
  sentinels[6] = 10;  // one in a hundred is not more than one in a hundred
  PixelStatistics statistics = sums.statistics();
  statistics.sentinels = sentinels;
  statistics.frames = 1000;
  const auto found = find_bad_pixels(statistics);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].col, 1);
  EXPECT_EQ(found[0].reason, BadPixelReason::sentinel);
}

TEST(BadPixels, APixelThatFluctuatesAloneIsNoisy) {
  const PixelSums sums(5, 5, 100);
  std::vector<double> fano(25, 1.0);
  fano[12] = 60;
  PixelStatistics statistics = sums.statistics();
  statistics.fano = fano;
  auto found = find_bad_pixels(statistics);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].reason, BadPixelReason::noisy);
  fano[13] = 6;  // its neighbour fluctuates too: the specimen does that
  EXPECT_THAT(find_bad_pixels(statistics), IsEmpty());
}

TEST(BadPixels, ReasonsHaveTheirNxdetectorBits) {
  EXPECT_EQ(mask_bits(BadPixelReason::hot), 1u << 3);
  EXPECT_EQ(mask_bits(BadPixelReason::dead), 1u << 1);
  EXPECT_EQ(mask_bits(BadPixelReason::sentinel), 1u << 4);
  EXPECT_EQ(mask_bits(BadPixelReason::noisy), 1u << 4);
}

TEST(BadPixels, AMaskOfAnotherSizeIsAnError) {
  const PixelSums sums(4, 4);
  const std::vector<std::uint8_t> good(15, 1);
  PixelStatistics statistics = sums.statistics();
  statistics.good = good;
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [&] { (void)find_bad_pixels(statistics); }),
              HasSubstr("the mask of good pixels has 15 values for a detector of 16 pixels"));
}

// The pattern sum of data/stem/arina-binned over its 16 frames, decoded by h5py 3.7 with the bitshuffle plugin. Four
// bins hold sentinels that were averaged in before masking.
constexpr std::uint64_t arina_binned[24][24] = {
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 9, 10, 11, 17, 32, 44, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 6, 9, 14, 14, 13, 12, 15, 49, 100, 68, 13, 3, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 7, 15, 12, 17, 20, 14, 16, 15, 33, 61, 1073741824, 16, 11, 3, 0, 0, 0, 0},
    {0, 0, 0, 0, 1, 5, 12, 15, 16, 18, 22, 18, 21, 23, 35, 52, 16, 15, 15, 8, 5, 0, 0, 0},
    {0, 0, 0, 0, 10, 11, 13, 15, 27, 42, 27, 30, 52, 57, 75, 112, 25, 27, 16, 8, 5, 0, 0, 0},
    {0, 0, 0, 1, 12, 15, 16, 28, 52, 162, 62, 61, 90, 115, 245, 78, 33, 27, 15, 13, 5, 3, 0, 0},
    {0, 0, 0, 11, 14, 16, 25, 34, 96, 149, 60, 84, 169, 283, 145, 42, 39, 26, 21, 20, 6, 5, 0, 0},
    {0, 0, 3, 10, 16, 21, 28, 32, 48, 68, 92, 127, 172, 151, 66, 53, 33, 25, 22, 18, 13, 6, 5, 0},
    {0, 0, 5, 14, 17, 23, 29, 35, 57, 1073741952, 128, 220, 205, 151, 86, 49, 35, 34, 21, 16, 14, 10, 4, 0},
    {0, 0, 10, 14, 18, 21, 31, 40, 65, 115, 634, 3156, 3884, 272, 104, 66, 58, 38, 30, 17, 24, 9, 9, 1},
    {0, 0, 7, 22, 42, 23, 30, 47, 81, 167, 2155, 6897, 14562, 336, 124, 79, 54, 34, 24, 21, 16, 11, 11, 4},
    {0, 0, 11, 29, 40, 30, 43, 53, 85, 168, 3032, 13439, 6761, 231, 113, 71, 39, 30, 19, 16, 13, 9, 5, 0},
    {0, 0, 10, 25, 25, 40, 47, 49, 75, 187, 359, 396, 212, 141, 90, 51, 32, 28, 23, 17, 14, 6, 6, 3},
    {0, 1073741824, 1, 14, 22, 34, 34, 51, 90, 122, 143, 168, 115, 105, 64, 44, 30, 25, 18, 15, 9, 8, 8, 0},
    {0, 0, 0, 12, 15, 22, 41, 64, 123, 99, 144, 124, 70, 73, 57, 35, 27, 20, 16, 15, 11, 8, 8, 0},
    {0, 0, 0, 12, 16, 30, 63, 226, 132, 76, 106, 56, 46, 43, 48, 33, 21, 16, 16, 12, 11, 8, 3, 0},
    {0, 0, 0, 0, 17, 60, 177, 173, 95, 149, 42, 37, 31, 27, 26, 17, 15, 15, 13, 10, 7, 8, 0, 0},
    {0, 0, 0, 0, 22, 77, 120, 68, 160, 92, 25, 25, 19, 18, 17, 16, 13, 15, 12, 7, 8, 0, 0, 0},
    {0, 1073741824, 0, 0, 0, 55, 37, 26, 21, 17, 16, 16, 16, 15, 16, 12, 13, 13, 12, 7, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 6, 16, 28, 15, 15, 12, 15, 13, 13, 9, 12, 9, 4, 1, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 16, 10, 14, 7, 8, 8, 7, 5, 2, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
};

TEST(BadPixels, TheFourSpoiltBinsOfARealScanAreFoundAndNothingElse) {
  PixelStatistics statistics;
  statistics.sum = {&arina_binned[0][0], 24, 24};
  EXPECT_EQ(places(find_bad_pixels(statistics)),
            (std::set<std::pair<Index, Index>>{{3, 16}, {9, 9}, {14, 1}, {19, 1}}));
}

TEST(Neighbours, AreTheEightAround) {
  EXPECT_THAT(good_neighbours(9, 10, {}, 4, 5), ElementsAre(34, 35, 36, 44, 46, 54, 55, 56));
}

TEST(Neighbours, OfACornerReachTheOuterRing) {
  // Three neighbours only, so the ring of 12 joins: (0,2), (1,2), (2,0), (2,1); (2,2) is a corner of the 5x5 square.
  EXPECT_THAT(good_neighbours(9, 9, {}, 0, 0), ElementsAre(1, 2, 9, 10, 11, 18, 19));
}

TEST(Interpolation, LeavesOutOtherBadPixels) {
  std::vector<std::uint8_t> good(81, 1);
  const std::vector<Index> bad = {40, 41};
  for (const Index pixel : bad) good[static_cast<std::size_t>(pixel)] = 0;
  const auto plan = interpolation_plan(9, 9, good, bad);
  ASSERT_EQ(plan.size(), 2u);
  EXPECT_EQ(plan[0].pixel, 40);
  EXPECT_THAT(plan[0].neighbours, ElementsAre(30, 31, 32, 39, 48, 49, 50));
  EXPECT_THAT(plan[1].neighbours, ElementsAre(31, 32, 33, 42, 49, 50, 51));
}

TEST(Interpolation, APixelDeepInsideABadRegionHasNoNeighbours) {
  const std::vector<std::uint8_t> good(81, 0);
  const std::vector<Index> bad = {40};
  EXPECT_THAT(interpolation_plan(9, 9, good, bad).at(0).neighbours, IsEmpty());
}

TEST(Interpolation, APixelOutsideIsAnError) {
  const std::vector<Index> bad = {81};
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [&] { (void)interpolation_plan(9, 9, {}, bad); }),
              HasSubstr("bad pixel 81 is outside a detector of 9 x 9 pixels"));
}

TEST(RoundedMedian, RoundsHalfUp) {
  std::vector<std::uint64_t> none, odd = {9, 1, 4}, even = {1, 4, 2, 9};
  EXPECT_EQ(rounded_median(none), 0u);
  EXPECT_EQ(rounded_median(odd), 4u);
  EXPECT_EQ(rounded_median(even), 3u);
  std::vector<std::uint64_t> half = {1, 2}, large = {~std::uint64_t{0}, ~std::uint64_t{0} - 2};
  EXPECT_EQ(rounded_median(half), 2u);
  EXPECT_EQ(rounded_median(large), ~std::uint64_t{0} - 1);
}

TEST(BadPixelAction, UnknownNamesListTheKnownOnes) {
  EXPECT_EQ(parse_bad_pixel_action("interpolate"), BadPixelAction::interpolate);
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::usage, [] { (void)parse_bad_pixel_action("interpolat"); }),
              HasSubstr("did you mean \"interpolate\"?"));
}

}  // namespace
}  // namespace sonde::stem
