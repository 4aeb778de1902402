// SPDX-License-Identifier: Apache-2.0
// Facts about ranks hold for any number of them: ctest starts this with 1, 2 and 4.
#include "sonde/engine/ranks/tree_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>

namespace sonde {
namespace {

/// A sum that shows how it was made.
struct Written {
  std::string text{};
  Written& operator+=(const Written& other) {
    text = "(" + text + "+" + other.text + ")";
    return *this;
  }
};

TEST(TreeSumOfItems, AddsPairsOfNeighbours) {
  TreeSum<Written> sum(5);
  for (Index i = 0; i < 5; ++i) sum.add(i, {std::to_string(i)});
  EXPECT_EQ(sum.result().text, "(((0+1)+(2+3))+4)");
}

TEST(TreeSumOfItems, DoesNotDependOnTheOrderInWhichTheyArrive) {
  std::mt19937 engine(3);
  for (Index count = 1; count < 20; ++count) {
    TreeSum<Written> in_order(count);
    for (Index i = 0; i < count; ++i) in_order.add(i, {std::to_string(i)});
    const std::string wanted = in_order.result().text;
    std::vector<Index> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), engine);
    TreeSum<Written> sum(count);
    for (const Index i : order) sum.add(i, {std::to_string(i)});
    EXPECT_EQ(sum.result().text, wanted);
  }
}

TEST(TreeSumOfItems, HasTheSameBitsOnAnyNumberOfRanks) {
  const Ranks ranks = Ranks::world();
  for (const Index count : {1, 5, 8, 23}) {
    const auto item = [](Index i) {
      NumberSum made;
      for (int k = 0; k < 50; ++k) made.values.push_back(1.0 / (1.0 + static_cast<double>(i * 50 + k)));
      return made;
    };
    TreeSum<NumberSum> alone(count), shared(count);
    for (Index i = 0; i < count; ++i) alone.add(i, item(i));
    const Share mine = share_of(ranks, count);
    for (Index i = mine.first; i < mine.last; ++i) shared.add(i, item(i));
    EXPECT_EQ(sum_over_ranks(shared, ranks), alone.result().values) << count;
  }
}

TEST(TreeSumOfItems, OfNoneIsEmpty) { EXPECT_EQ(TreeSum<Written>(0).result().text, ""); }

}  // namespace
}  // namespace sonde
