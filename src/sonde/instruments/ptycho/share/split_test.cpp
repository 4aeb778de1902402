// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/share/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace sonde::ptycho {
namespace {

std::vector<Placement> raster(Index rows, Index cols) {
  std::vector<Placement> placements;
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c) placements.push_back({5 * r, 5 * c, 0, 0});
  return placements;
}

TEST(SplitFrames, EveryFrameIsInOneRegionAndRegionsAreOfEqualSize) {
  std::mt19937 random(1);
  for (const Index count : {1, 7, 64, 101})
    for (const Index regions : {1, 2, 3, 4, 6, 7}) {
      std::vector<Placement> placements;
      for (Index i = 0; i < count; ++i)
        placements.push_back({static_cast<Index>(random() % 90), static_cast<Index>(random() % 40), 0, 0});
      const auto split = split_frames(placements, regions);
      ASSERT_EQ(split.size(), static_cast<std::size_t>(regions));
      std::vector<int> seen(static_cast<std::size_t>(count), 0);
      for (const auto& region : split) {
        EXPECT_GE(static_cast<Index>(region.size()), count / regions);
        EXPECT_LE(static_cast<Index>(region.size()), (count + regions - 1) / regions);
        EXPECT_TRUE(std::is_sorted(region.begin(), region.end()));
        for (const Index frame : region) ++seen[static_cast<std::size_t>(frame)];
      }
      EXPECT_THAT(seen, ::testing::Each(1));
    }
}

TEST(SplitFrames, ARasterIsCutIntoQuarters) {
  const std::vector<Placement> placements = raster(8, 6);
  const auto split = split_frames(placements, 4);
  // Windows of one pixel show the extent: 4 x 3 positions of 5 pixels each.
  EXPECT_EQ(box_of(split[0], placements, {1, 1}), (Box{0, 0, 16, 11}));
  EXPECT_EQ(box_of(split[1], placements, {1, 1}), (Box{0, 15, 16, 11}));
  EXPECT_EQ(box_of(split[2], placements, {1, 1}), (Box{20, 0, 16, 11}));
  EXPECT_EQ(box_of(split[3], placements, {1, 1}), (Box{20, 15, 16, 11}));
}

TEST(Overlap, IsWhatBothHave) {
  EXPECT_EQ(overlap({0, 0, 10, 10}, {4, 7, 20, 20}), (Box{4, 7, 6, 3}));
  EXPECT_EQ(overlap({0, 0, 10, 10}, {10, 0, 5, 5}).rows, 0);
}

}  // namespace
}  // namespace sonde::ptycho
