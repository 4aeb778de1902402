// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/scan/bands.h"

#include <gtest/gtest.h>

#include "sonde/instruments/ptycho/scan/test_scans.h"

namespace sonde::ptycho {
namespace {

constexpr Window window{20, 12};

struct Case {
  Index members, bands;
};
class BandCounts : public ::testing::TestWithParam<Case> {};

TEST_P(BandCounts, DependOnTheMembersAlone) {
  const std::vector<Placement> placements = scattered(GetParam().members, 200, 300);
  const Bands bands = make_bands(all_of(placements), placements, window);
  EXPECT_EQ(static_cast<Index>(bands.bands.size()), GetParam().bands);
}

// At most 16, and at least four members each where there are four.
INSTANTIATE_TEST_SUITE_P(Sizes, BandCounts,
                         ::testing::Values(Case{0, 0}, Case{1, 1}, Case{3, 1}, Case{4, 1}, Case{7, 1}, Case{8, 2},
                                           Case{63, 15}, Case{64, 16}, Case{1000, 16}));

TEST(Bands, HoldEveryMemberOnceInPiecesOfNearlyOneSize) {
  const std::vector<Placement> placements = scattered(500, 200, 300);
  std::vector<Index> members;
  for (Index i = 1; i < 500; i += 3) members.push_back(i);
  const Bands bands = make_bands(members, placements, window);
  EXPECT_EQ(sorted(bands.order), members);
  Index next = 0;
  for (const Band& band : bands.bands) {
    EXPECT_EQ(band.first, next);
    EXPECT_TRUE(band.last - band.first == 10 || band.last - band.first == 11);  // 167 in 16
    next = band.last;
  }
  EXPECT_EQ(next, 167);
}

TEST(Bands, BoxesAreThoseOfTheirWindows) {
  const std::vector<Placement> placements = scattered(130, 200, 300);
  const Bands bands = make_bands(all_of(placements), placements, window);
  for (const Band& band : bands.bands) {
    Index top = 1000, left = 1000, bottom = -1000, right = -1000;
    for (Index i = band.first; i < band.last; ++i) {
      const Placement& at = placements[static_cast<std::size_t>(bands.order[static_cast<std::size_t>(i)])];
      top = std::min(top, at.row);
      left = std::min(left, at.col);
      bottom = std::max(bottom, at.row + 20);
      right = std::max(right, at.col + 12);
    }
    EXPECT_EQ(band.box, (Box{top, left, bottom - top, right - left}));
  }
}

TEST(Bands, OfARasterAreCompact) {
  // A sixteenth of the scan is a quarter of its side in both directions.
  const std::vector<Placement> placements = raster(32, 32, 4);
  for (const Band& band : make_bands(all_of(placements), placements, window).bands) {
    EXPECT_LE(band.box.rows, 8 * 4 + 20);
    EXPECT_LE(band.box.cols, 8 * 4 + 12);
  }
}

TEST(Bands, LimitsMayBeOthers) {
  const std::vector<Placement> placements = scattered(100, 200, 300);
  EXPECT_EQ(make_bands(all_of(placements), placements, window, {.most = 3, .least_members = 1}).bands.size(), 3u);
  EXPECT_EQ(make_bands(all_of(placements), placements, window, {.most = 99, .least_members = 30}).bands.size(), 3u);
}

}  // namespace
}  // namespace sonde::ptycho
