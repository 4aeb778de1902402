// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/run/tree_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>

namespace sonde::maxwell {
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

TEST(TreeSumOfItems, OfNoneIsEmpty) { EXPECT_EQ(TreeSum<Written>(0).result().text, ""); }

}  // namespace
}  // namespace sonde::maxwell
