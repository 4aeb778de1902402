// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/correct/circle_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace sonde::stem {
namespace {

std::vector<Point> arc(double row, double col, double radius, double from, double to, int count) {
  std::vector<Point> points;
  for (int i = 0; i < count; ++i) {
    const double angle = from + (to - from) * i / count;
    points.push_back({row + radius * std::sin(angle), col + radius * std::cos(angle)});
  }
  return points;
}

TEST(CircleFit, RecoversAWholeCircle) {
  const Circle circle = fit_circle(arc(90.25, -17.5, 30.75, 0, 2 * std::numbers::pi, 360));
  EXPECT_NEAR(circle.row, 90.25, 1e-10);
  EXPECT_NEAR(circle.col, -17.5, 1e-10);
  EXPECT_NEAR(circle.radius, 30.75, 1e-10);
}

TEST(CircleFit, RecoversAnArc) {
  const Circle circle = fit_circle(arc(5, 7, 100, 0.3, 0.9, 50));
  EXPECT_NEAR(circle.row, 5, 1e-7);  // conditioning of a 34 degree arc
  EXPECT_NEAR(circle.col, 7, 1e-7);
  EXPECT_NEAR(circle.radius, 100, 1e-7);
}

TEST(CircleFit, ThreePointsDefineTheCircle) {
  const Circle circle = fit_circle(std::vector<Point>{{0, 0}, {0, 2}, {1, 1}});
  EXPECT_NEAR(circle.row, 0, 1e-12);
  EXPECT_NEAR(circle.col, 1, 1e-12);
  EXPECT_NEAR(circle.radius, 1, 1e-12);
}

TEST(CircleFit, PointsOnALineHaveNoCircle) {
  EXPECT_EQ(fit_circle(std::vector<Point>{{0, 0}, {1, 1}, {2, 2}, {3, 3}}).radius, 0);
}

TEST(CircleFit, TwoPointsHaveNoCircle) { EXPECT_EQ(fit_circle(std::vector<Point>{{0, 0}, {1, 1}}).radius, 0); }

}  // namespace
}  // namespace sonde::stem
