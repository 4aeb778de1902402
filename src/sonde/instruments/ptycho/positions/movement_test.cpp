// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/positions/movement.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace sonde::ptycho {
namespace {

TEST(Movement, IsMeasuredWithAndBesideItsAffinePart) {
  // Four corners that all go 3 down and 4 to the right, but for a saddle of 0.1 along the columns that no affine map
  // has.
  const std::vector<Point> from = {{0, 0}, {0, 10}, {10, 0}, {10, 10}};
  const std::vector<Point> to = {{3, 4.1}, {3, 13.9}, {13, 3.9}, {13, 14.1}};
  const Movement movement = movement_of(from, to);
  EXPECT_TRUE(movement.any());
  EXPECT_NEAR(movement.largest, std::hypot(3, 4.1), 1e-12);
  EXPECT_NEAR(movement.rms, std::sqrt(25.01), 1e-12);
  EXPECT_NEAR(movement.rms_beside, 0.1, 1e-12);
}

TEST(Movement, PositionsAtRestHaveNone) {
  const std::vector<Point> points = {{0, 0}, {0, 10}, {10, 0}};
  EXPECT_FALSE(movement_of(points, points).any());
  EXPECT_EQ(arrows_longer(movement_of(points, points), 10), 1);
}

TEST(Movement, ArrowsAreLongerByARoundNumberAndNeverShorter) {
  Movement movement;
  movement.rms = movement.largest = 0.04;
  EXPECT_EQ(arrows_longer(movement, 4), 50);  // half a step is 2
  movement.rms = 0.06;
  EXPECT_EQ(arrows_longer(movement, 4), 20);  // 33 at most
  movement.rms = 8;
  EXPECT_EQ(arrows_longer(movement, 4), 1);
}

}  // namespace
}  // namespace sonde::ptycho
