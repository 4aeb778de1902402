// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/phase/vector_field.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace sonde::stem {
namespace {

/// x = a + b col + c row, y = d + e col + f row, on 5 x 7 positions.
VectorField linear_field(double step_row = 1, double step_col = 1) {
  VectorField field = make_field(5, 7, step_row, step_col);
  for (Index row = 0; row < 5; ++row)
    for (Index col = 0; col < 7; ++col) {
      const auto here = static_cast<std::size_t>(row * 7 + col);
      const double y = static_cast<double>(row) * step_row, x = static_cast<double>(col) * step_col;
      field.x[here] = 0.3 + 2 * x - 3 * y;
      field.y[here] = -0.1 + 5 * x + 7 * y;
    }
  return field;
}

void lose(VectorField& field, Index row, Index col) {
  const auto here = static_cast<std::size_t>(row * field.cols + col);
  field.valid[here] = 0;
  field.x[here] = field.y[here] = std::numeric_limits<double>::quiet_NaN();
}

TEST(VectorField, ARightAngleTurnsXTowardsY) {
  VectorField field = make_field(1, 2);
  field.x = {1, 0};
  field.y = {0, 1};
  const VectorField made = turned(field, std::numbers::pi / 2, false, 2);
  EXPECT_NEAR(made.x[0], 0, 1e-15);
  EXPECT_NEAR(made.y[0], 2, 1e-15);
  EXPECT_NEAR(made.x[1], -2, 1e-15);
  EXPECT_NEAR(made.y[1], 0, 1e-15);
}

TEST(VectorField, TheTranspositionComesBeforeTheRotation) {
  VectorField field = make_field(1, 1);
  field.x = {1};
  field.y = {0};
  const VectorField made = turned(field, std::numbers::pi / 2, true);  // (1, 0) to (0, 1), then to (-1, 0)
  EXPECT_NEAR(made.x[0], -1, 1e-15);
  EXPECT_NEAR(made.y[0], 0, 1e-15);
}

TEST(VectorField, DifferencesAreThoseOfALinearFieldWithUnequalSteps) {
  const CurlAndDivergence made = curl_and_divergence(linear_field(0.5, 0.25));
  for (const auto& [row, col] : {std::pair<Index, Index>{1, 1}, {3, 5}, {2, 3}}) {
    EXPECT_NEAR(made.curl[static_cast<std::size_t>(row * 7 + col)], 5 + 3, 1e-12);
    EXPECT_NEAR(made.divergence[static_cast<std::size_t>(row * 7 + col)], 2 + 7, 1e-12);
  }
  EXPECT_TRUE(std::isnan(made.curl[0]));
  EXPECT_TRUE(std::isnan(made.divergence[static_cast<std::size_t>(2 * 7 + 6)]));
}

TEST(VectorField, DerivativesBesideAMissingPositionAreNotKnown) {
  VectorField field = linear_field();
  lose(field, 2, 3);
  const CurlAndDivergence made = curl_and_divergence(field);
  for (const auto& [row, col] : {std::pair<Index, Index>{2, 3}, {1, 3}, {3, 3}, {2, 2}, {2, 4}})
    EXPECT_TRUE(std::isnan(made.curl[static_cast<std::size_t>(row * 7 + col)])) << row << " " << col;
  EXPECT_FALSE(std::isnan(made.curl[static_cast<std::size_t>(1 * 7 + 2)]));
}

TEST(VectorField, ABlurKeepsALinearFieldAndMissingPositions) {
  VectorField field = linear_field();
  lose(field, 2, 3);
  const VectorField made = blurred(field, 1.5), before = linear_field();
  for (std::size_t i = 0; i < 35; ++i)
    if (field.valid[i] != 0)
      EXPECT_NEAR(made.x[i], before.x[i], 1e-12) << i;
    else
      EXPECT_TRUE(std::isnan(made.x[i]));
  EXPECT_EQ(blurred(before, 0).x, before.x);
}

TEST(VectorField, ABlurIsAGaussian) {
  VectorField field = make_field(21, 25);
  field.x[10 * 25 + 12] = 1;
  const VectorField made = blurred(field, 1.2);
  const auto at = [&](Index row, Index col) { return made.x[static_cast<std::size_t>(row * 25 + col)]; };
  EXPECT_NEAR(at(12, 12) / at(10, 12), std::exp(-4 / 2.88), 1e-12);
  EXPECT_NEAR(at(11, 13) / at(10, 12), std::exp(-2 / 2.88), 1e-12);
  double sum = 0;
  for (const double value : made.x) sum += value;
  EXPECT_NEAR(sum, 1, 1e-12);
}

TEST(VectorField, GapsAreFilledFromBesideThem) {
  VectorField field = linear_field();
  lose(field, 2, 3);
  EXPECT_NEAR(filled(field).x[2 * 7 + 3], linear_field().x[2 * 7 + 3], 1e-12);  // the mean of four neighbours
  lose(field, 0, 0);
  lose(field, 0, 1);
  lose(field, 1, 0);
  const VectorField made = filled(field);
  for (const double value : made.x) EXPECT_TRUE(std::isfinite(value));
  EXPECT_EQ(field.missing(), 4);
}

}  // namespace
}  // namespace sonde::stem
