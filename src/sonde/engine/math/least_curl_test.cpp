// SPDX-License-Identifier: Apache-2.0
// Gradients of a phase that is a formula, seen through detectors that are turned and mirrored.
#include "sonde/engine/math/least_curl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include "tests/support/errors.h"

namespace sonde {
namespace {

using Point = LeastCurl::Place;

constexpr double degree = std::numbers::pi / 180;

/// Derivatives of cos(0.21 y + 0.05 x) + 0.7 cos(0.13 y - 0.17 x + 1) + 0.5 sin(0.04 y + 0.19 x).
Point gradient(const Point& at) {
  const double a = -std::sin(0.21 * at.row + 0.05 * at.col), b = -0.7 * std::sin(0.13 * at.row - 0.17 * at.col + 1),
               c = 0.5 * std::cos(0.04 * at.row + 0.19 * at.col);
  return {0.21 * a + 0.13 * b + 0.04 * c, 0.05 * a - 0.17 * b + 0.19 * c};
}

struct Scanned {
  std::vector<Point> nominal, deflections;
};

/// 18 x 18 positions 1.3 apart, in truth transposed and turned about their centre.
Scanned scanned(bool transpose, double rotation, double noise = 0) {
  constexpr int side = 18;
  constexpr double step = 1.3, centre = step * (side - 1) / 2;
  Scanned made;
  std::mt19937 generator(7);
  std::normal_distribution<double> normal(0, noise > 0 ? noise : 1);
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j) {
      made.nominal.push_back({step * i, step * j});
      double row = step * i - centre, col = step * j - centre;
      if (transpose) std::swap(row, col);
      Point c = gradient({centre + row * std::cos(rotation) - col * std::sin(rotation),
                          centre + col * std::cos(rotation) + row * std::sin(rotation)});
      if (noise > 0) c = {c.row + normal(generator), c.col + normal(generator)};
      made.deflections.push_back(c);
    }
  return made;
}

double apart_by_half_turns(double a, double b) {
  const double turns = (a - b) / std::numbers::pi;
  return std::abs(turns - std::round(turns)) * std::numbers::pi;
}

TEST(LeastCurl, FindsTheRotationOfEitherHandedness) {
  for (const bool transpose : {false, true})
    for (const double angle : {-130.0, -45.0, -7.0, 0.0, 33.0, 90.0, 151.0}) {
      SCOPED_TRACE(::testing::Message() << angle << (transpose ? " transposed" : ""));
      const Scanned scan = scanned(transpose, angle * degree);
      const LeastCurl found = least_curl(scan.nominal, scan.deflections, transpose);
      const LeastCurl other = least_curl(scan.nominal, scan.deflections, !transpose);
      // Slopes over neighbours 1.3 apart are short by (0.25 1.3)^2 / 6 = 2 % at most, not alike in all directions.
      EXPECT_LT(apart_by_half_turns(found.rotation, angle * degree), 1.5 * degree);
      // At the edge, a fifth of all positions, neighbours lie on one side: there slopes are off by 0.25 1.3 / 2 of
      // themselves, which is 0.16^2 / 5 of the whole power.
      EXPECT_LT(found.curl, 5e-3);
      EXPECT_GT(other.curl, 0.1);
      EXPECT_GE(found.rotation, -std::numbers::pi / 2);
      EXPECT_LE(found.rotation, std::numbers::pi / 2);
    }
}

TEST(LeastCurl, TakesAnyPatternOfPositions) {
  std::mt19937 generator(3);
  std::uniform_real_distribution<double> uniform(0, 25);
  Scanned scan;
  const double c = std::cos(0.4), s = std::sin(0.4);
  for (int j = 0; j < 500; ++j) {
    const Point r{uniform(generator), uniform(generator)};
    scan.nominal.push_back(r);
    scan.deflections.push_back(gradient({r.row * c - r.col * s, r.col * c + r.row * s}));
  }
  EXPECT_LT(apart_by_half_turns(least_curl(scan.nominal, scan.deflections, false).rotation, 0.4), 3 * degree);
}

TEST(LeastCurl, SaysNothingOfNoise) {
  Scanned scan = scanned(false, 0.5);
  std::mt19937 generator(11);
  std::normal_distribution<double> normal(0, 1);
  for (Point& point : scan.deflections) point = {normal(generator), normal(generator)};
  // Of 324 places, whose neighbours overlap: a spread of a tenth about one half.
  EXPECT_GT(least_curl(scan.nominal, scan.deflections, false).curl, 0.35);
  EXPECT_GT(least_curl(scan.nominal, scan.deflections, true).curl, 0.35);
}

TEST(LeastCurl, HoldsAgainstNoiseWeakerThanTheField) {
  const Scanned scan = scanned(true, -0.6, 0.02);
  EXPECT_LT(apart_by_half_turns(least_curl(scan.nominal, scan.deflections, true).rotation, -0.6), 5 * degree);
}

TEST(LeastCurl, OfTooFewOrUnequalListsSaysSo) {
  const std::vector<Point> three(3), four{{0, 0}, {0, 1}, {0, 2}, {0, 3}};
  EXPECT_EQ(least_curl(three, three, false).curl, 0.5);
  EXPECT_EQ(least_curl(four, four, false).curl, 0.5);  // on a line there is no derivative across
  EXPECT_THAT(testing::error_of(ErrorKind::bad_input, [&] { (void)least_curl(three, four, false); }),
              ::testing::HasSubstr("4 deflections at 3 positions"));
}

}  // namespace
}  // namespace sonde
