// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/scan/positions.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::error_of;
using std::numbers::pi;
using ::testing::HasSubstr;

constexpr double rounding = 1e-12;

void expect_at(const Point& point, double row, double col) {
  EXPECT_NEAR(point.row, row, rounding);
  EXPECT_NEAR(point.col, col, rounding);
}

TEST(RasterPositions, GoLineAfterLine) {
  const std::vector<Point> points = raster_positions({.rows = 2, .cols = 3, .step_row = 4, .step_col = 5});
  ASSERT_EQ(points.size(), 6u);
  expect_at(points[0], 0, 0);
  expect_at(points[2], 0, 10);
  expect_at(points[3], 4, 0);
}

TEST(RasterPositions, TransposedExchangeRowsAndColumns) {
  const std::vector<Point> points =
      raster_positions({.rows = 2, .cols = 3, .step_row = 4, .step_col = 5, .transpose = true});
  ASSERT_EQ(points.size(), 6u);
  expect_at(points[2], 10, 0);  // still the third pattern of the first line
  expect_at(points[3], 0, 4);
}

TEST(RasterPositions, TurnCounterClockwiseWithRowsUpwards) {
  // A line to the right, turned by 90 degrees counter-clockwise as seen with y up, points up: to smaller rows.
  const std::vector<Point> points =
      raster_positions({.rows = 1, .cols = 3, .step_row = 0, .step_col = 2, .rotation = pi / 2});
  expect_at(points[0], 2, 2);
  expect_at(points[1], 0, 2);
  expect_at(points[2], -2, 2);
}

TEST(RasterPositions, TurnAboutTheirMean) {
  const Raster raster{.rows = 3, .cols = 4, .step_row = 2, .step_col = 3, .rotation = 0.3};
  const std::vector<Point> points = raster_positions(raster);
  double row = 0, col = 0;
  for (const Point& point : points) {
    row += point.row / 12;
    col += point.col / 12;
  }
  EXPECT_NEAR(row, 2, rounding);
  EXPECT_NEAR(col, 4.5, rounding);
  // The formula at one corner: (0, 0) lies (-2, -4.5) from the mean.
  expect_at(points[0], 2 - 2 * std::cos(0.3) + 4.5 * std::sin(0.3), 4.5 - 4.5 * std::cos(0.3) - 2 * std::sin(0.3));
}

TEST(RasterPositions, AreTransposedBeforeTheyAreTurned) {
  // (0, 2) becomes (2, 0) and is turned to the right of the mean; the other order would put it to the left.
  const std::vector<Point> points =
      raster_positions({.rows = 1, .cols = 2, .step_row = 0, .step_col = 2, .transpose = true, .rotation = pi / 2});
  expect_at(points[0], 1, -1);
  expect_at(points[1], 1, 1);
}

TEST(RasterPositions, RefuseEmptyAndEndlessScans) {
  error_of(ErrorKind::bad_input, [] { (void)raster_positions({.rows = 0, .cols = 3}); });
  error_of(ErrorKind::bad_input,
           [] { (void)raster_positions({.rows = 2, .cols = 2, .step_row = std::nan(""), .step_col = 1}); });
}

TEST(ListedPositions, OfCornersAreMovedToTheCentre) {
  const std::vector<Point> list = {{3, 4.5}};
  const std::vector<Point> odd =
      listed_positions(list, LengthUnit::pixel, Reference::window_corner, pixel_sampling(7, 8));
  expect_at(odd[0], 6, 8.5);
  const std::vector<Point> centred =
      listed_positions(list, LengthUnit::pixel, Reference::window_centre, pixel_sampling(7, 8));
  expect_at(centred[0], 3, 4.5);
}

TEST(ListedPositions, InAngstromAreDividedByThePixelOfTheirAxis) {
  const Sampling sampling = electron_sampling(64, 128, 200, 1.875);
  const std::vector<Point> list = {{2 * sampling.pixel_row(), 3 * sampling.pixel_col()}};
  expect_at(listed_positions(list, LengthUnit::angstrom, Reference::window_centre, sampling)[0], 2, 3);
  expect_at(listed_positions(list, LengthUnit::angstrom, Reference::window_corner, sampling)[0], 34, 67);
  const std::vector<Point> back = in_angstrom(in_pixels(list, sampling), sampling);
  expect_at(back[0], list[0].row, list[0].col);
}

TEST(ListedPositions, InAngstromNeedACalibration) {
  const std::vector<Point> list = {{1, 1}};
  error_of(ErrorKind::not_supported,
           [&] { (void)listed_positions(list, LengthUnit::angstrom, Reference::window_centre, pixel_sampling(8, 8)); });
}

TEST(ListedPositions, MustBeFinite) {
  const std::vector<Point> list = {{1, 1}, {2, std::numeric_limits<double>::quiet_NaN()}};
  EXPECT_THAT(
      error_of(
          ErrorKind::bad_input,
          [&] { (void)listed_positions(list, LengthUnit::pixel, Reference::window_centre, pixel_sampling(8, 8)); }),
      HasSubstr("position 1 is (2, nan)"));
}

}  // namespace
}  // namespace sonde::ptycho
