// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/radial/disk_area.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sonde::stem {
namespace {

using std::numbers::pi;

std::vector<PlanePoint> square(double x, double y, double side) {
  return {{x, y}, {x + side, y}, {x + side, y + side}, {x, y + side}};
}

TEST(DiskArea, OfASquareAboutTheOrigin) {
  const std::vector<PlanePoint> unit = square(-0.5, -0.5, 1);
  EXPECT_NEAR(area_in_disk(unit, 0.3), pi * 0.09, 1e-15);
  // Four segments of the disk stick out: R^2 acos(d / R) - d sqrt(R^2 - d^2) each.
  const double radius = 0.6,
               segment = radius * radius * std::acos(0.5 / radius) - 0.5 * std::sqrt(radius * radius - 0.25);
  EXPECT_NEAR(area_in_disk(unit, radius), pi * radius * radius - 4 * segment, 1e-15);
  EXPECT_NEAR(area_in_disk(unit, 3), 1, 1e-15);
  EXPECT_EQ(area_in_disk(unit, 0), 0);
}

TEST(DiskArea, OfASquareThatTouchesTheOrigin) {
  EXPECT_NEAR(area_in_disk(square(0, 0, 1), 1), pi / 4, 1e-15);
  EXPECT_NEAR(area_in_disk(square(-1, 0, 2), 1), pi / 2, 1e-15);
}

TEST(DiskArea, OfASquareFarAwayIsNoneOrAll) {
  const std::vector<PlanePoint> far = square(300, -400, 1);
  EXPECT_NEAR(area_in_disk(far, 498), 0, 1e-10);  // differences of sectors of 1e5 px^2
  EXPECT_NEAR(area_in_disk(far, 502), 1, 1e-10);
}

TEST(DiskArea, DoesNotDependOnTheDirectionOfTheCorners) {
  std::vector<PlanePoint> corners = {{0.2, -0.7}, {1.4, 0.1}, {0.3, 0.9}};
  const double area = area_in_disk(corners, 0.8);
  std::reverse(corners.begin(), corners.end());
  EXPECT_NEAR(area_in_disk(corners, 0.8), area, 1e-15);
}

TEST(DiskArea, LeftOfARayIsWhereItsSineIsPositive) {
  // The diagonal halves the square; the whole is left of a ray below it.
  EXPECT_NEAR(area_in_disk(left_of(square(0, 0, 1), pi / 4), 2), 0.5, 1e-15);
  EXPECT_NEAR(area_in_disk(left_of(square(0, 0.1, 1), 0), 2), 1, 1e-15);
  EXPECT_NEAR(area_in_disk(left_of(square(0, 0.1, 1), pi), 2), 0, 1e-15);
}

}  // namespace
}  // namespace sonde::stem
