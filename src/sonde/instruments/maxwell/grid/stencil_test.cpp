// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/grid/stencil.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/errors.h"

namespace sonde::maxwell {
namespace {

class Stencil : public ::testing::TestWithParam<int> {};

TEST_P(Stencil, DifferentiatesPolynomialsBelowItsOrderExactly) {
  const auto weights = stencil_weights(GetParam());
  // Odd powers about the half plane; even ones vanish by symmetry. x^(2M+1) is the first that is not exact.
  for (int power = 1; power <= GetParam() + 1; power += 2) {
    double sum = 0;
    for (std::size_t m = 0; m < weights.size(); ++m)
      sum += 2 * weights[m] * std::pow(static_cast<double>(m) + 0.5, power);
    if (power <= GetParam())
      EXPECT_NEAR(sum, power == 1 ? 1 : 0, 1e-12) << power;
    else
      EXPECT_GT(std::abs(sum), 1e-3);
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, Stencil, ::testing::Values(2, 4, 6, 8),
                         [](const auto& each) { return "Order" + std::to_string(each.param); });

TEST(StencilSum, IsThatOfThePublishedWeights) {
  EXPECT_DOUBLE_EQ(stencil_sum(2), 1.0);
  EXPECT_DOUBLE_EQ(stencil_sum(4), 7.0 / 6);
  EXPECT_DOUBLE_EQ(stencil_sum(6), 149.0 / 120);
  EXPECT_DOUBLE_EQ(stencil_sum(8), 2161.0 / 1680);
}

TEST(StencilSum, RefusesOtherOrders) {
  EXPECT_EQ(sonde::testing::error_of(ErrorKind::bad_input, [] { (void)stencil_sum(3); }),
            "error: order = 3: expected 2, 4, 6 or 8");
}

TEST(WallImages, AreOddOnPlanesAndEvenBetween) {
  EXPECT_EQ(wall_image(-2, 10, false).index, 2);
  EXPECT_EQ(wall_image(-2, 10, false).sign, -1);
  EXPECT_EQ(wall_image(10, 10, false).sign, 0);
  EXPECT_EQ(wall_image(12, 10, false).index, 8);
  EXPECT_EQ(wall_image(-1, 10, true).index, 0);
  EXPECT_EQ(wall_image(11, 10, true).index, 8);
  EXPECT_EQ(wall_image(11, 10, true).sign, 1);
}

}  // namespace
}  // namespace sonde::maxwell
