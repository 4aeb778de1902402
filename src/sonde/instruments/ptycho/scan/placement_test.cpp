// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/scan/placement.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;

std::vector<Point> some_positions() {
  const auto raw = *rc::gen::nonEmpty<std::vector<std::pair<int, int>>>();
  std::vector<Point> points;
  for (const auto& [row, col] : raw) points.push_back({row % 100000 / 64.0, col % 100000 / 64.0});
  return points;
}

TEST(Place, PutsThePositionUnderTheCentralIndex) {
  EXPECT_EQ(place({36, 40}, {64, 64}), (Placement{4, 8, 0, 0}));
  EXPECT_EQ(place({36, 40}, {7, 8}), (Placement{33, 36, 0, 0}));
}

TEST(Place, HalvesRoundUp) {
  EXPECT_EQ(place({10.5, -10.5}, {2, 2}), (Placement{10, -11, -0.5, -0.5}));
  EXPECT_EQ(place({10.25, 10.75}, {2, 2}), (Placement{9, 10, 0.25, -0.25}));
}

TEST(Place, JustBelowAHalfStaysBelow) {
  const double below = std::nextafter(0.5, 0.0);
  const Placement at = place({below, -below}, {2, 2});
  EXPECT_EQ(at.row, -1);
  EXPECT_EQ(at.shift_row, below);
  EXPECT_EQ(at.shift_col, -below);
}

RC_GTEST_PROP(PlaceProperty, OriginAndFractionAreThePosition, ()) {
  for (const Point& point : some_positions()) {
    const Placement at = place(point, {9, 12});
    RC_ASSERT(static_cast<double>(at.row + 4) + at.shift_row == point.row);
    RC_ASSERT(static_cast<double>(at.col + 6) + at.shift_col == point.col);
    RC_ASSERT(at.shift_row >= -0.5 && at.shift_row < 0.5);
    RC_ASSERT(at.shift_col >= -0.5 && at.shift_col < 0.5);
  }
}

RC_GTEST_PROP(ObjectExtentProperty, HoldsAllWindowsAndNoMore, ()) {
  const std::vector<Point> points = some_positions();
  const Window window{*rc::gen::inRange<Index>(1, 40), *rc::gen::inRange<Index>(1, 40)};
  const Index margin = *rc::gen::inRange<Index>(0, 9);
  const ObjectExtent extent = object_extent(points, window, margin);
  Index top = 1 << 30, left = top, bottom = -1, right = -1;
  for (const Placement& at : place_all(moved(points, extent.offset), window)) {
    top = std::min(top, at.row);
    left = std::min(left, at.col);
    bottom = std::max(bottom, at.row + window.rows);
    right = std::max(right, at.col + window.cols);
  }
  RC_ASSERT(top == margin && left == margin);
  RC_ASSERT(bottom == extent.rows - margin && right == extent.cols - margin);
}

RC_GTEST_PROP(ObjectExtentProperty, KeepsTheFractions, ()) {
  const std::vector<Point> points = some_positions();
  const ObjectExtent extent = object_extent(points, {16, 16}, 3);
  for (const Point& point : points) {
    const Placement before = place(point, {16, 16});
    const Placement after = place({point.row + extent.offset.row, point.col + extent.offset.col}, {16, 16});
    RC_ASSERT(before.shift_row == after.shift_row && before.shift_col == after.shift_col);
  }
}

TEST(ObjectExtent, RefusesWhatIsNoScan) {
  error_of(ErrorKind::bad_input, [] { (void)object_extent({}, {8, 8}); });
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [] {
                         (void)object_extent(std::vector<Point>{{0, 0}, {1e12, 0}}, {8, 8});
                       }),
              HasSubstr("span 1e+12 object pixels"));
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [] {
                         (void)object_extent(std::vector<Point>{{0, 0}, {std::nan(""), 0}}, {8, 8});
                       }),
              HasSubstr("position 1 is (nan, 0)"));
}

TEST(PlaceAll, RefusesPositionsThatAreNoPlace) {
  const auto refused = [](double row, double col) {
    const std::vector<Point> points{{1, 2}, {row, col}};
    return error_of(ErrorKind::bad_input, [&] { (void)place_all(points, {8, 8}); });
  };
  EXPECT_THAT(refused(std::nan(""), 3), HasSubstr("position 1 is (nan, 3); expected finite numbers"));
  EXPECT_THAT(refused(3, -std::numeric_limits<double>::infinity()), HasSubstr("position 1 is (3, -inf)"));
  EXPECT_THAT(refused(1e300, 3), HasSubstr("position 1 is (1e+300, 3) object pixels; expected less than 2^50"));
}

TEST(RequireInside, NamesTheFirstWindowOutside) {
  const std::vector<Placement> placements = {{0, 0, 0, 0}, {3, 7, 0, 0}, {9, 9, 0, 0}};
  EXPECT_NO_THROW(require_inside(placements, {4, 4}, 13, 13));
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [&] {
                         require_inside(placements, {4, 4}, 13, 10);
                       }),
              HasSubstr("position 1 covers rows 3 to 6 and columns 7 to 10, outside of the object of 13 x 10 pixels"));
  error_of(ErrorKind::bad_input, [] { require_inside(std::vector<Placement>{{-1, 0, 0, 0}}, {4, 4}, 13, 13); });
}

TEST(FieldOfView, IsTheBoxOfThePositionsBothEndsIncluded) {
  // The reference set v5: rows and columns 36 to 66.
  EXPECT_EQ(field_of_view(std::vector<Point>{{36, 66}, {66, 36}}), (Box{36, 36, 31, 31}));
  EXPECT_EQ(field_of_view(std::vector<Point>{{35.9999999, 66.0000001}, {66, 36}}), (Box{36, 36, 31, 31}));
}

}  // namespace
}  // namespace sonde::ptycho
