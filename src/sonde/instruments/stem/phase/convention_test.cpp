// SPDX-License-Identifier: Apache-2.0
// The matrices of other programs, as they document them, beside this one's.
#include "sonde/instruments/stem/phase/convention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <utility>

#include "sonde/instruments/stem/phase/vector_field.h"

namespace sonde::stem {
namespace {

constexpr double one_degree = std::numbers::pi / 180;

std::pair<double, double> ours(const DetectorToScan& to_scan, double x, double y) {
  VectorField field = make_field(1, 1);
  field.x = {x};
  field.y = {y};
  const VectorField made = turned(field, to_scan.rotation, to_scan.transpose);
  return {made.x[0], made.y[0]};
}

class ConventionOfAngle : public ::testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(Angles, ConventionOfAngle, ::testing::Values(-150.0, -35.0, 0.0, 20.0, 90.0, 170.0));

// py4DSTEM: "x" are rows. (kx, ky), swapped when transposed, is multiplied by [[cos, -sin], [sin, cos]].
TEST_P(ConventionOfAngle, OfPy4dstemHasRowsFirst) {
  const double r = GetParam() * one_degree, row = 0.7, col = -0.4;
  for (const bool transpose : {false, true}) {
    const double first = transpose ? col : row, second = transpose ? row : col;
    const double made_row = std::cos(r) * first - std::sin(r) * second,
                 made_col = std::sin(r) * first + std::cos(r) * second;
    const auto [x, y] = ours(from_convention(Convention::py4dstem, r, transpose), col, row);
    EXPECT_NEAR(y, made_row, 1e-12) << transpose;
    EXPECT_NEAR(x, made_col, 1e-12) << transpose;
  }
}

// LiberTEM: rotate_deg(scan_rotation) @ flip_y() on (y, x), with [[cos, sin], [-sin, cos]] and [[-1, 0], [0, 1]].
TEST_P(ConventionOfAngle, OfLibertemFlipsBeforeItTurns) {
  const double s = GetParam() * one_degree, row = 0.7, col = -0.4;
  for (const bool flip : {false, true}) {
    const double y_in = flip ? -row : row;
    const double made_row = std::cos(s) * y_in + std::sin(s) * col, made_col = -std::sin(s) * y_in + std::cos(s) * col;
    const auto [x, y] = ours(from_convention(Convention::libertem, s, flip), col, row);
    EXPECT_NEAR(y, made_row, 1e-12) << flip;
    EXPECT_NEAR(x, made_col, 1e-12) << flip;
  }
}

TEST_P(ConventionOfAngle, ThereAndBackIsTheSame) {
  for (const Convention convention : {Convention::sonde, Convention::py4dstem, Convention::libertem})
    for (const bool flag : {false, true}) {
      const DetectorToScan back = to_convention(convention, from_convention(convention, GetParam() * one_degree, flag));
      EXPECT_NEAR(back.rotation, GetParam() * one_degree, 1e-12);
      EXPECT_EQ(back.transpose, flag);
    }
}

}  // namespace
}  // namespace sonde::stem
