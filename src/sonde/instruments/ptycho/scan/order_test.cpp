// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/scan/order.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sonde/instruments/ptycho/scan/test_scans.h"

namespace sonde::ptycho {
namespace {

double length_of(std::span<const Point> points, std::span<const Index> order) {
  double length = 0;
  for (std::size_t i = 1; i < order.size(); ++i) {
    const Point &a = points[static_cast<std::size_t>(order[i - 1])], &b = points[static_cast<std::size_t>(order[i])];
    length += std::hypot(a.row - b.row, a.col - b.col);
  }
  return length;
}

TEST(HilbertOrder, OfFourPointsGoesAroundTheCell) {
  // The curve starts at the first corner and ends at its neighbour along the columns.
  const std::vector<Point> points = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  const std::vector<Index> order = hilbert_order(points);
  EXPECT_NEAR(length_of(points, order), 3, 1e-12);
  EXPECT_EQ(sorted(order), (std::vector<Index>{0, 1, 2, 3}));
}

TEST(HilbertOrder, OfAFullGridStepsFromNeighbourToNeighbour) {
  // Points in the middle of the cells of a grid of 2^n: the defining property of the curve.
  for (const Index side : {2, 8, 64}) {
    SCOPED_TRACE(side);
    std::vector<Point> points;
    for (Index row = 0; row < side; ++row)
      for (Index col = 0; col < side; ++col) points.push_back({static_cast<double>(row), static_cast<double>(col)});
    // Corners that make the square exactly one grid large.
    points.push_back({-0.5, -0.5});
    points.push_back({static_cast<double>(side) - 0.5, static_cast<double>(side) - 0.5});
    std::vector<Index> order = hilbert_order(points);
    std::erase_if(order, [&](Index i) { return i >= side * side; });
    for (std::size_t i = 1; i < order.size(); ++i)
      ASSERT_EQ(std::abs(order[i] / side - order[i - 1] / side) + std::abs(order[i] % side - order[i - 1] % side), 1);
  }
}

TEST(HilbertOrder, OfScatteredPointsIsShort) {
  std::vector<Point> points;
  for (const Placement& at : scattered(4000, 500, 500))
    points.push_back({static_cast<double>(at.row), static_cast<double>(at.col)});
  const std::vector<Index> order = hilbert_order(points);
  EXPECT_EQ(sorted(order), all_of(scattered(4000, 500, 500)));
  // Platzman and Bartholdi (J. ACM 36, 1989): a tour along such a curve is about 0.92 sqrt(n area) for random points.
  EXPECT_LT(length_of(points, order), 1.1 * std::sqrt(4000.0 * 500 * 500));
}

TEST(HilbertOrder, EqualPointsKeepTheirOrder) {
  EXPECT_EQ(hilbert_order(std::vector<Point>{{5, 5}, {0, 0}, {5, 5}, {0, 0}}), (std::vector<Index>{1, 3, 0, 2}));
  EXPECT_EQ(hilbert_order(std::vector<Point>{{5, 5}, {5, 5}, {5, 5}}), (std::vector<Index>{0, 1, 2}));
  EXPECT_TRUE(hilbert_order({}).empty());
}

}  // namespace
}  // namespace sonde::ptycho
