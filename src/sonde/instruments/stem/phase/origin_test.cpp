// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/phase/origin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sonde/engine/math/random.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

double parabola_x(double row, double col) {
  return 12 + 0.1 * col - 0.05 * row + 0.003 * col * col - 0.002 * row * col;
}
double parabola_y(double row, double col) { return -3 + 0.02 * row * row + 0.01 * col; }

VectorField parabola_field(Index rows, Index cols) {
  VectorField field = make_field(rows, cols);
  for (Index row = 0; row < rows; ++row)
    for (Index col = 0; col < cols; ++col) {
      const auto here = static_cast<std::size_t>(row * cols + col);
      field.x[here] = parabola_x(static_cast<double>(row), static_cast<double>(col));
      field.y[here] = parabola_y(static_cast<double>(row), static_cast<double>(col));
    }
  return field;
}

TEST(Origin, AParabolaIsFoundExactly) {
  const VectorField field = parabola_field(11, 17);
  const Origin origin = fit_origin(field, OriginFit::parabola);
  EXPECT_NEAR(origin.at(3, 15).x, parabola_x(3, 15), 1e-10);
  EXPECT_NEAR(origin.at(10, 0).y, parabola_y(10, 0), 1e-10);
  const VectorField rest = measured_from(field, origin);
  EXPECT_NEAR(rest.x[40], 0, 1e-10);
}

TEST(Origin, OutliersAreDroppedInRounds) {
  VectorField field = parabola_field(11, 17);
  for (const std::size_t at : {3U, 60U, 100U, 130U}) field.x[at] += 40;
  const Origin origin = fit_origin(field, OriginFit::parabola);
  EXPECT_NEAR(origin.at(5, 8).x, parabola_x(5, 8), 1e-9);
  EXPECT_GE(origin.dropped, 4);
}

TEST(Origin, CountsAreWeights) {
  VectorField field = make_field(1, 3);
  field.x = {0, 1, 1};
  field.counts = {2, 1, 1};
  // Nothing is further than twice the rms, which is 1/2.
  EXPECT_NEAR(fit_origin(field, OriginFit::mean).at(0, 0).x, 0.5, 1e-15);
}

TEST(Origin, OfNothingIsZero) {
  const Origin origin = fit_origin(parabola_field(4, 5), OriginFit::none);
  EXPECT_EQ(origin.at(2, 2).x, 0);
  EXPECT_EQ(origin.at(2, 2).y, 0);
}

TEST(Origin, ASurfaceThatPositionsDoNotDetermineIsRefused) {
  EXPECT_THAT(
      sonde::testing::error_of(ErrorKind::bad_input, [] { (void)fit_origin(make_field(1, 9), OriginFit::plane); }),
      ::testing::HasSubstr("9 valid positions do not determine the 3 terms of the origin\n"
                           "hint: take a simpler surface, for instance --fit mean"));
}

// Of a slow field a plane takes part away: the reason for the warning.
TEST(Origin, APlaneTakesSlowFieldsToo) {
  VectorField field = make_field(16, 24);
  for (Index i = 0; i < field.positions(); ++i)
    field.x[static_cast<std::size_t>(i)] = std::sin(2 * M_PI * static_cast<double>(i % 24) / 24);
  double before = 0, after = 0;
  const VectorField rest = measured_from(field, fit_origin(field, OriginFit::plane));
  for (std::size_t i = 0; i < field.x.size(); ++i) {
    before += field.x[i] * field.x[i];
    after += rest.x[i] * rest.x[i];
  }
  EXPECT_LT(after, 0.5 * before);
}

}  // namespace
}  // namespace sonde::stem
