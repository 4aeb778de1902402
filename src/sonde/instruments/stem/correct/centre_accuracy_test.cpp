// SPDX-License-Identifier: Apache-2.0
// How well the centre of a known disk is found.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "sonde/instruments/stem/correct/centre.h"
#include "tests/support/patterns.h"

namespace sonde::stem {
namespace {

using sonde::testing::disk;
using sonde::testing::ellipse;
using sonde::testing::poisson;

class CentreOfDisk : public ::testing::TestWithParam<double> {};

// docs/verification.md, images, row on the centre of a disk.
TEST_P(CentreOfDisk, IsFoundToATwentiethOfAPixel) {
  std::mt19937_64 random(static_cast<std::uint64_t>(GetParam()));
  std::uniform_real_distribution<double> offset(-0.5, 0.5);
  for (int trial = 0; trial < 4; ++trial) {
    const double row = 95 + offset(random), col = 96 + offset(random), radius = GetParam() + offset(random) * 0.5;
    SCOPED_TRACE(::testing::Message() << row << " " << col << " " << radius);
    const Centre centre = poisson(disk(192, 192, row, col, radius), 1e6, random).centre();
    EXPECT_LE(std::hypot(centre.row - row, centre.col - col), 0.05);
    EXPECT_NEAR(centre.radius, radius, 0.1);
    EXPECT_GE(centre.confidence, 0.9);
    EXPECT_LE(centre.residual_rms, 0.5);
    EXPECT_TRUE(centre.notes.empty());
  }
}
INSTANTIATE_TEST_SUITE_P(, CentreOfDisk, ::testing::Values(8, 10, 15, 22, 30, 45, 60));

TEST(CentreByEdge, ToleratesADiskCutByTheRim) {
  // 20 % of the area lies beyond column 0: the chord is 0.4919 radii from the centre.
  std::mt19937_64 random(1);
  for (const double radius : {12.0, 30.0, 55.0}) {
    SCOPED_TRACE(radius);
    const double row = 90.3, col = -0.5 + 0.4919 * radius;
    const Centre centre = poisson(disk(192, 192, row, col, radius), 1e6, random).centre();
    EXPECT_LE(std::hypot(centre.row - row, centre.col - col), 0.3);
    EXPECT_NEAR(centre.radius, radius, 0.3);
    EXPECT_LT(centre.confidence, 0.8);
  }
}

TEST(CentreByEdge, ReportsTheMeanRadiusAndRmsOfAnEllipse) {
  // Semi-axes differ by 5 %: radius(angle) = 40 (1 + 0.025 cos 2 angle) to first order, whose rms is 40 x 0.025 /
  // sqrt 2.
  const Centre centre = ellipse(192, 192, 95.2, 94.8, 41, 39).centre();
  EXPECT_NEAR(centre.row, 95.2, 0.05);
  EXPECT_NEAR(centre.col, 94.8, 0.05);
  EXPECT_NEAR(centre.radius, 40, 0.1);
  EXPECT_NEAR(centre.residual_rms, 40 * 0.025 / std::numbers::sqrt2, 0.05);
}

}  // namespace
}  // namespace sonde::stem
