// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/scan/groups.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdlib>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/ptycho/scan/test_scans.h"
#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::error_of;

std::vector<Index> sizes_of(const Batches& batches) {
  std::vector<Index> sizes;
  for (Index batch = 0; batch < batches.count(); ++batch) sizes.push_back(static_cast<Index>(batches[batch].size()));
  return sizes;
}

/// Whether two windows share a pixel, looked at pixel by pixel along each axis.
bool conflict(const Placement& a, const Placement& b, const Box& support) {
  bool rows = false, cols = false;
  for (Index i = 0; i < support.rows; ++i) rows = rows || (a.row + i >= b.row && a.row + i < b.row + support.rows);
  for (Index i = 0; i < support.cols; ++i) cols = cols || (a.col + i >= b.col && a.col + i < b.col + support.cols);
  return rows && cols;
}

RC_GTEST_PROP(DisjointGroupsProperty, HoldAllPositionsOnceAndNoTwoThatOverlap, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint32_t>();
  const Index count = *rc::gen::inRange<Index>(0, 120);
  // Positions left and above of the object's corner, too.
  std::vector<Placement> placements = scattered(count, 90, 60, seed);
  for (Placement& at : placements) {
    at.row -= 40;
    at.col -= 30;
  }
  const Box support{5, 3, *rc::gen::inRange<Index>(1, 25), *rc::gen::inRange<Index>(1, 25)};
  std::vector<Index> active;
  for (Index i = 0; i < count; ++i)
    if (i % 7 != 3) active.push_back(i);
  const DisjointGroups groups(active, placements, support);
  const Batches batches = groups.batches({seed, 5});
  RC_ASSERT(batches.count() == groups.groups().count());
  RC_ASSERT(sorted(batches.members) == active);
  RC_ASSERT(batches.bounds.front() == 0 && batches.bounds.back() == static_cast<Index>(active.size()));
  for (Index batch = 0; batch < batches.count(); ++batch) {
    RC_ASSERT(!batches[batch].empty());
    for (const Index a : batches[batch])
      for (const Index b : batches[batch])
        RC_ASSERT(a == b ||
                  !conflict(placements[static_cast<std::size_t>(a)], placements[static_cast<std::size_t>(b)], support));
  }
}

TEST(DisjointGroups, OfARasterAreAsFewAsCanBe) {
  // ceil(D / s)^2: every D x D square of the scan holds that many positions.
  const std::vector<Placement> placements = raster(12, 15, 4);
  EXPECT_EQ(DisjointGroups(all_of(placements), placements, {0, 0, 8, 8}).groups().count(), 4);
  EXPECT_EQ(DisjointGroups(all_of(placements), placements, {0, 0, 9, 9}).groups().count(), 9);
  EXPECT_EQ(DisjointGroups(all_of(placements), placements, {0, 0, 4, 4}).groups().count(), 1);
}

TEST(DisjointGroups, ComeInAnotherOrderInEachIteration) {
  const std::vector<Placement> placements = raster(12, 15, 4);
  const DisjointGroups groups(all_of(placements), placements, {0, 0, 12, 12});
  const Batches first = groups.batches({1, 0}), again = groups.batches({1, 0}), next = groups.batches({1, 1});
  EXPECT_EQ(first.members, again.members);
  EXPECT_NE(first.members, next.members);
  // The groups stay what they are.
  std::vector<std::vector<Index>> of_first, of_next;
  for (Index i = 0; i < first.count(); ++i) {
    of_first.push_back(sorted({first[i].begin(), first[i].end()}));
    of_next.push_back(sorted({next[i].begin(), next[i].end()}));
  }
  EXPECT_NE(of_first, of_next);
  std::sort(of_first.begin(), of_first.end());
  std::sort(of_next.begin(), of_next.end());
  EXPECT_EQ(of_first, of_next);
}

TEST(DisjointGroups, NeedASupport) {
  const std::vector<Placement> placements = raster(2, 2, 4);
  error_of(ErrorKind::bad_input, [&] { DisjointGroups(all_of(placements), placements, {0, 0, 0, 4}); });
}

TEST(SequentialBatches, HoldOnePositionEach) {
  const std::vector<Index> active = {3, 5, 8, 13, 21};
  const Batches batches = sequential_batches(active, {1, 2});
  EXPECT_EQ(sizes_of(batches), (std::vector<Index>{1, 1, 1, 1, 1}));
  EXPECT_EQ(sorted(batches.members), active);
}

TEST(SequentialBatches, ComeInANewOrderInEachIteration) {
  const std::vector<Index> active = all_of(raster(8, 8, 1));
  EXPECT_EQ(sequential_batches(active, {1, 2}).members, sequential_batches(active, {1, 2}).members);
  EXPECT_NE(sequential_batches(active, {1, 2}).members, sequential_batches(active, {1, 3}).members);
  EXPECT_NE(sequential_batches(active, {1, 2}).members, sequential_batches(active, {2, 2}).members);
}

class EverySpread : public ::testing::TestWithParam<Spread> {};

TEST_P(EverySpread, HoldsAllPositionsOnceInBatchesOfNearlyOneSize) {
  const std::vector<Placement> placements = scattered(203, 100, 100);
  const std::vector<Index> active = all_of(placements);
  const Batches batches = overlapping_batches(active, placements, 32, GetParam(), {4, 9});
  EXPECT_EQ(sorted(batches.members), active);
  EXPECT_EQ(batches.count(), 7);  // 203 / 32
  EXPECT_EQ(sorted(sizes_of(batches)), (std::vector<Index>{29, 29, 29, 29, 29, 29, 29}));
  const Batches uneven = overlapping_batches(active, placements, 50, GetParam(), {4, 9});
  EXPECT_EQ(sorted(uneven.members), active);
  EXPECT_EQ(sorted(sizes_of(uneven)), (std::vector<Index>{40, 40, 41, 41, 41}));
}

TEST_P(EverySpread, ChangesWithTheIterationAndNothingElse) {
  const std::vector<Placement> placements = scattered(203, 100, 100);
  const std::vector<Index> active = all_of(placements);
  const auto members = [&](std::uint64_t iteration) {
    return overlapping_batches(active, placements, 32, GetParam(), {4, iteration}).members;
  };
  const std::vector<Index> first = members(0);
  EXPECT_NE(first, members(1));
  const int threads = thread_count();
  set_thread_count(1);
  EXPECT_EQ(first, members(0));
  set_thread_count(threads);
}

TEST_P(EverySpread, OneBatchAndNoPositionsAreFine) {
  const std::vector<Placement> placements = scattered(10, 100, 100);
  EXPECT_EQ(overlapping_batches(all_of(placements), placements, 64, GetParam(), {}).count(), 1);
  EXPECT_EQ(overlapping_batches({}, placements, 64, GetParam(), {}).count(), 0);
  error_of(ErrorKind::bad_input, [&] { (void)overlapping_batches(all_of(placements), placements, 0, GetParam(), {}); });
}

INSTANTIATE_TEST_SUITE_P(All, EverySpread, ::testing::Values(Spread::random, Spread::compact, Spread::uniform));

/// Mean over the batches of the mean distance of a member to its batch's middle.
double radius_of(const Batches& batches, std::span<const Placement> placements) {
  double sum = 0;
  for (Index batch = 0; batch < batches.count(); ++batch) {
    double row = 0, col = 0, distance = 0;
    const auto count = static_cast<double>(batches[batch].size());
    for (const Index i : batches[batch]) {
      row += static_cast<double>(placements[static_cast<std::size_t>(i)].row) / count;
      col += static_cast<double>(placements[static_cast<std::size_t>(i)].col) / count;
    }
    for (const Index i : batches[batch])
      distance += std::hypot(static_cast<double>(placements[static_cast<std::size_t>(i)].row) - row,
                             static_cast<double>(placements[static_cast<std::size_t>(i)].col) - col) /
                  count;
    sum += distance / static_cast<double>(batches.count());
  }
  return sum;
}

TEST(OverlappingBatches, CompactOnesLieTogether) {
  const std::vector<Placement> placements = raster(32, 32, 2);
  const std::vector<Index> active = all_of(placements);
  // A square of 8 x 8 positions has a mean radius of 0.383 of its side; the whole scan 0.383 of 64 pixels.
  EXPECT_LT(radius_of(overlapping_batches(active, placements, 64, Spread::compact, {}), placements), 0.45 * 16);
  EXPECT_GT(radius_of(overlapping_batches(active, placements, 64, Spread::random, {}), placements), 0.33 * 64);
}

TEST(OverlappingBatches, UniformOnesHaveAMemberInEveryPart) {
  // 64 batches of 64: each has one position in every 8 x 8 square, because such a square is one piece of the curve.
  const std::vector<Placement> placements = raster(64, 64, 1);
  const Batches batches = overlapping_batches(all_of(placements), placements, 64, Spread::uniform, {3, 3});
  ASSERT_EQ(batches.count(), 64);
  for (Index batch = 0; batch < 64; ++batch) {
    std::vector<Index> squares;
    for (const Index i : batches[batch]) squares.push_back(i / 64 / 8 * 8 + i % 64 / 8);
    squares = sorted(squares);
    for (Index i = 0; i < 64; ++i) ASSERT_EQ(squares[static_cast<std::size_t>(i)], i) << batch;
  }
}

}  // namespace
}  // namespace sonde::ptycho
