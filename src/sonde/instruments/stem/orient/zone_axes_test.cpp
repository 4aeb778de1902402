// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/orient/zone_axes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sonde/engine/math/random.h"
#include "sonde/instruments/stem/orient/test_crystals.h"

namespace sonde::stem {
namespace {

constexpr double one_degree = std::numbers::pi / 180;

PointGroup group_of(const Crystal& crystal) { return find_point_group(crystal, list_reflections(crystal, 1)); }

Vec3 random_direction(Random& random) { return normalised({random.normal(), random.normal(), random.normal()}); }

/// The largest distance of random directions from the nearest zone axis or its equals.
double farthest_from(const std::vector<Vec3>& zones, const PointGroup& group) {
  Random random(5);
  double farthest = 0;
  for (int i = 0; i < 200; ++i) {
    const Vec3 direction = random_direction(random);
    double largest = -1;
    for (const Mat3& turn : group.cartesian) {
      const Vec3 equal = times(turn, direction);
      for (const Vec3& zone : zones) largest = std::max(largest, dot(equal, zone));
    }
    farthest = std::max(farthest, std::acos(std::min(1.0, largest)));
  }
  return farthest;
}

TEST(ZoneAxes, OfCubicCrystalsTileTheTriangle) {
  const PointGroup group = group_of(gold());
  const std::vector<Vec3> zones = zone_axes(group, 2 * one_degree);
  EXPECT_EQ(zones.size(), 406U);
  // Of a triangle of equal sides of 2 degrees every point is within 2 / sqrt(3) of a corner; sides here are up to 2.1.
  EXPECT_LT(farthest_from(zones, group), 1.3 * one_degree);
}

TEST(ZoneAxes, OfOtherCrystalsReachEveryDirectionWithoutManyTwice) {
  const Crystal triclinic =
      make_crystal("test", {4, 4.5, 5, 83, 97, 101}, {{.atomic_number = 79}}, {parse_operation("x,y,z", "test")});
  for (const Crystal& crystal : {magnesium(), triclinic}) {
    const PointGroup group = group_of(crystal);
    SCOPED_TRACE(group.symbol());
    const double step = 4 * one_degree;
    const std::vector<Vec3> zones = zone_axes(group, step);
    EXPECT_LT(farthest_from(zones, group), step);
    // The area of the sphere over that of a zone and the order of the group, and a margin of half a step around it.
    const double area = 4 * std::numbers::pi / (step * step) / static_cast<double>(group.order());
    EXPECT_GT(static_cast<double>(zones.size()), area);
    EXPECT_LT(static_cast<double>(zones.size()), 1.5 * area + 20);
  }
}

TEST(ZoneAxes, AnOrientationAlongADirectionIsTheShortestTurn) {
  Random random(7);
  for (int i = 0; i < 5; ++i) {
    const Vec3 direction = random_direction(random);
    const Orientation orientation = orientation_along(direction);
    EXPECT_LT(length(sum(transposed(orientation)[2], scaled(-1, direction))), 1e-12);
    EXPECT_NEAR(determinant(orientation), 1, 1e-12);
    EXPECT_NEAR(trace(orientation), 1 + 2 * direction[2], 1e-12);
  }
}

TEST(Misorientation, IsThatOfTheNearestEqualOrientation) {
  const std::vector<Mat3> proper = group_of(gold()).proper();
  ASSERT_EQ(proper.size(), 24U);
  const Orientation one = orientation_along(normalised({0.3, -0.5, 0.7}));
  const Orientation turned = times(turn_about(normalised({1, 2, 3}), 0.1), one);
  EXPECT_NEAR(misorientation(one, turned, proper), 0.1, 1e-7);
  for (const Mat3& turn : proper) EXPECT_NEAR(misorientation(one, times(turn, turned), proper), 0.1, 1e-7);
  // No two orientations of a cubic crystal are farther apart (Mackenzie 1958).
  Random random(3);
  for (int i = 0; i < 50; ++i) {
    const Orientation other = times(turn_about(random_direction(random), 6 * random.uniform()), one);
    EXPECT_LT(misorientation(one, other, proper), 62.8 * one_degree);
  }
}

}  // namespace
}  // namespace sonde::stem
