// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/scan/shuffle.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <numeric>
#include <vector>

namespace sonde::ptycho {
namespace {

std::vector<Index> shuffled(Index count, const ShuffleKey& key) {
  std::vector<Index> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), Index{0});
  shuffle(values, key);
  return values;
}

TEST(Shuffle, IsAPermutation) {
  std::vector<Index> values = shuffled(1000, {3, 4, 0});
  EXPECT_NE(values[0] + values[1] + values[2], 3);
  std::sort(values.begin(), values.end());
  for (Index i = 0; i < 1000; ++i) EXPECT_EQ(values[static_cast<std::size_t>(i)], i);
}

TEST(Shuffle, DependsOnTheKeyAlone) {
  const std::vector<Index> values = shuffled(50, {3, 4, 0});
  EXPECT_EQ(values, shuffled(50, {3, 4, 0}));
  EXPECT_NE(values, shuffled(50, {4, 4, 0}));
  EXPECT_NE(values, shuffled(50, {3, 5, 0}));
  EXPECT_NE(values, shuffled(50, {3, 4, 1}));
  EXPECT_NE(values, shuffled(50, {3, std::uint64_t{4} + (std::uint64_t{1} << 32), 0}));
}

TEST(Shuffle, EveryOrderIsEquallyLikely) {
  std::map<std::vector<Index>, int> seen;
  constexpr int draws = 24000;
  for (int i = 0; i < draws; ++i) ++seen[shuffled(4, {11, static_cast<std::uint64_t>(i), 0})];
  ASSERT_EQ(seen.size(), 24u);
  double chi_square = 0;
  for (const auto& [order, count] : seen) chi_square += (count - 1000.0) * (count - 1000.0) / 1000;
  // 23 degrees of freedom: above 58 once in ten thousand seeds, and this seed is fixed.
  EXPECT_LT(chi_square, 58);
}

TEST(Shuffle, LeavesNothingAndOneAlone) {
  EXPECT_TRUE(shuffled(0, {}).empty());
  EXPECT_EQ(shuffled(1, {}), std::vector<Index>{0});
}

}  // namespace
}  // namespace sonde::ptycho
