// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/scan/spacing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/math/philox.h"
#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;

constexpr double spacing_rounding = 1e-12;

TEST(SpacingOf, ARasterIsBothOfItsStepsHoweverItIsTurned) {
  for (const double turn : {0.0, 0.4, 1.2}) {
    const Spacing found =
        spacing_of(raster_positions({.rows = 9, .cols = 11, .step_row = 5, .step_col = 3, .rotation = turn}));
    EXPECT_EQ(found.places, 99);
    EXPECT_NEAR(found.nearest, 3, spacing_rounding);
    EXPECT_NEAR(found.across, 5, spacing_rounding);
    EXPECT_NEAR(found.widest, 3, spacing_rounding);
  }
}

TEST(SpacingOf, LinesFarApartAreTheLongerStep) {
  const Spacing found = spacing_of(raster_positions({.rows = 4, .cols = 50, .step_row = 60, .step_col = 0.5}));
  EXPECT_NEAR(found.nearest, 0.5, spacing_rounding);
  EXPECT_NEAR(found.across, 60, 0.26);  // straight across or half a step aside, which is as far as 45 degrees allow
}

TEST(SpacingOf, ALineHasOneStep) {
  const Spacing found = spacing_of(raster_positions({.rows = 1, .cols = 50, .step_row = 0, .step_col = 3}));
  EXPECT_NEAR(found.nearest, 3, spacing_rounding);
  EXPECT_NEAR(found.across, 3, spacing_rounding);
}

TEST(SpacingOf, ScatteredPointsIsTheMedianOfAllPairs) {
  std::vector<Point> points;
  for (std::uint32_t i = 0; i < 301; ++i) {
    const auto bits = philox({i, 0, 0, 0}, {7, 0});
    points.push_back({100 * unit_interval(bits[0], bits[1]), 20 * unit_interval(bits[2], bits[3])});
  }
  std::vector<double> nearest;
  for (const Point& here : points) {
    double least = 1e9;
    for (const Point& there : points)
      if (&here != &there) least = std::min(least, std::hypot(here.row - there.row, here.col - there.col));
    nearest.push_back(least);
  }
  const double widest = *std::max_element(nearest.begin(), nearest.end());
  std::sort(nearest.begin(), nearest.end());
  EXPECT_DOUBLE_EQ(spacing_of(points).nearest, nearest[150]);
  EXPECT_DOUBLE_EQ(spacing_of(points).widest, widest);
}

TEST(SpacingOf, PositionsThatRepeatCountOnce) {
  EXPECT_EQ(spacing_of(std::vector<Point>{{3, 3}}).places, 1);
  const Spacing one = spacing_of(std::vector<Point>{{3, 3}, {3, 3}, {3, 3}});
  EXPECT_EQ(one.places, 1);
  EXPECT_EQ(one.nearest, 0);
  std::vector<Point> twice = raster_positions({.rows = 5, .cols = 5, .step_row = 2, .step_col = 2});
  const std::vector<Point> once = twice;
  twice.insert(twice.end(), once.begin(), once.end());
  const Spacing found = spacing_of(twice);
  EXPECT_EQ(found.places, 25);
  EXPECT_NEAR(found.nearest, 2, spacing_rounding);
}

TEST(SpacingOf, APointFarFromAllOthersIsNamedAndChangesNothingElse) {
  std::vector<Point> points = raster_positions({.rows = 6, .cols = 7, .step_row = 2, .step_col = 2});
  points[17] = {4, 1e7};
  const Spacing found = spacing_of(points);
  EXPECT_NEAR(found.nearest, 2, spacing_rounding);
  EXPECT_NEAR(found.across, 2, spacing_rounding);
  EXPECT_EQ(found.loneliest, 17);
  EXPECT_NEAR(found.widest, 1e7 - 12, 1e-6);
}

TEST(SpacingOf, PositionsMustBeFinite) {
  const std::vector<Point> points = {{1, 1}, {2, std::numeric_limits<double>::quiet_NaN()}};
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)spacing_of(points); }), HasSubstr("position 1 is (2, nan)"));
}

TEST(SpacingOf, EndsWhenAskedTo) {
  const std::vector<Point> raster = raster_positions({.rows = 40, .cols = 50, .step_row = 1, .step_col = 1});
  request_interrupt(15);
  EXPECT_THAT(error_of(ErrorKind::terminated, [&] { (void)spacing_of(raster, Interruption::looked_for); }),
              HasSubstr("terminated"));
  clear_interrupt();
}

TEST(SpacingOf, OfMillionsOfPlacesIsTheSame) {
  // More than are looked at for the distance across, in an order that is not that of the rows.
  std::vector<Point> points = raster_positions({.rows = 700, .cols = 900, .step_row = 5, .step_col = 3, .rotation = 1});
  std::reverse(points.begin(), points.end());
  points[4711] = {-1e4, 0};
  const Spacing found = spacing_of(points);
  EXPECT_EQ(found.places, 630000);
  EXPECT_NEAR(found.nearest, 3, 1e-9);
  EXPECT_NEAR(found.across, 5, 1e-9);
  EXPECT_EQ(found.loneliest, 4711);
}

TEST(SpacingOf, IsTheSameOnAnyNumberOfThreads) {
  // More places than one piece of the loop has, none at the same distance from its neighbour.
  std::vector<Point> points = raster_positions({.rows = 90, .cols = 100, .step_row = 2, .step_col = 3});
  for (std::size_t i = 0; i < points.size(); ++i) points[i].row += 1e-3 * std::sin(static_cast<double>(i * i));
  set_thread_count(1);
  const Spacing one = spacing_of(points);
  set_thread_count(3);
  const Spacing three = spacing_of(points);
  set_thread_count(0);
  EXPECT_EQ(one.nearest, three.nearest);
  EXPECT_EQ(one.across, three.across);
  EXPECT_EQ(one.widest, three.widest);
  EXPECT_EQ(one.loneliest, three.loneliest);
}

}  // namespace
}  // namespace sonde::ptycho
