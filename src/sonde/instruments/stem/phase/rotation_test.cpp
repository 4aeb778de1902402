// SPDX-License-Identifier: Apache-2.0
// On fields in closed form; on patterns of waves in phase_accuracy_test.cpp.
#include "sonde/instruments/stem/phase/rotation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "sonde/engine/math/random.h"

namespace sonde::stem {
namespace {

constexpr double degree = std::numbers::pi / 180;

/// The gradient of Gaussian hills on 33 x 41 positions, seen by a detector from which turned(rotation, transpose) leads
/// to the scan: v = T R(-rotation) gradient.
VectorField seen_gradient(double rotation, bool transpose, double height = 1, double step_row = 1) {
  VectorField field = make_field(33, 41, step_row, 1);
  Random random(5);
  for (int hill = 0; hill < 25; ++hill) {
    const double y = 33 * random.uniform() * step_row, x = 41 * random.uniform();
    for (Index i = 0; i < field.positions(); ++i) {
      const double dy = static_cast<double>(i / 41) * step_row - y, dx = static_cast<double>(i % 41) - x;
      const double slope = -height / 9 * std::exp(-(dy * dy + dx * dx) / 18);
      field.y[static_cast<std::size_t>(i)] += slope * dy;
      field.x[static_cast<std::size_t>(i)] += slope * dx;
    }
  }
  field = turned(field, -rotation, false);
  return transpose ? turned(field, 0, true) : field;
}

double apart_in_turn(double a, double b) { return std::remainder(a - b, 2 * std::numbers::pi); }

class RotationOfAngle : public ::testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(Angles, RotationOfAngle, ::testing::Values(-170.0, -91.0, -30.0, 0.0, 45.0, 120.0, 180.0));

TEST_P(RotationOfAngle, IsThatOfAGradientWithUnequalSteps) {
  for (const bool transpose : {false, true}) {
    SCOPED_TRACE(transpose);
    const ScanRotation found = find_rotation(seen_gradient(GetParam() * degree, transpose, 1, 0.8), {});
    EXPECT_EQ(found.transpose, transpose);
    // Differences along both axes are short by unequal amounts, (step / width)^2 / 6; hills are round.
    EXPECT_NEAR(apart_in_turn(found.rotation, GetParam() * degree), 0, 0.1 * degree);
    EXPECT_GT(found.confidence, 0.95);
    EXPECT_LT(found.curl, 0.01);
    EXPECT_LT(found.skewness, -0.5);
  }
}

TEST(Rotation, OfValleysIsFoundWhereTheyAreAskedFor) {
  const VectorField field = seen_gradient(0.7, true, -1);
  EXPECT_NEAR(apart_in_turn(find_rotation(field, {.contrast = Contrast::valleys}).rotation, 0.7), 0, 0.1 * degree);
  EXPECT_NEAR(std::abs(apart_in_turn(find_rotation(field, {}).rotation, 0.7)), std::numbers::pi, 0.1 * degree);
}

TEST(Rotation, WhatIsGivenIsTaken) {
  const VectorField field = seen_gradient(0.7, true);
  const ScanRotation given = find_rotation(field, {.rotation = 0.2, .transpose = true});
  EXPECT_EQ(given.rotation, 0.2);
  EXPECT_TRUE(given.transpose);
  EXPECT_NEAR(given.transposed.rotation, 0.7, 0.1 * degree);
  EXPECT_NEAR(given.curl, std::sin(0.5) * std::sin(0.5), 0.02);
  EXPECT_TRUE(find_rotation(field, {.rotation = 0.2}).transpose);
  EXPECT_FALSE(find_rotation(field, {.transpose = false}).transpose);
}

TEST(Rotation, MissingPositionsAreLeftOut) {
  VectorField field = seen_gradient(-1.1, false);
  for (Index i = 0; i < field.positions(); i += 13) {
    const auto here = static_cast<std::size_t>(i);
    field.valid[here] = 0;
    field.x[here] = field.y[here] = std::numeric_limits<double>::quiet_NaN();
  }
  const ScanRotation found = find_rotation(field, {});
  EXPECT_NEAR(apart_in_turn(found.rotation, -1.1), 0, 0.3 * degree);  // a blur beside a gap is not central
  EXPECT_LT(found.used, 31 * 39);
}

TEST(Rotation, NoiseSaysNothing) {
  VectorField field = make_field(40, 30);
  draw_normal({3, 0}, field.x);
  draw_normal({3, 1}, field.y);
  const ScanRotation found = find_rotation(field, {});
  EXPECT_LT(found.confidence, 0.25);
  EXPECT_GT(found.curl, 0.35);
  EXPECT_LT(std::abs(found.skewness), 4 * found.skewness_error);
}

TEST(Rotation, TooFewPositionsOrNoFieldSayNothing) {
  EXPECT_EQ(find_rotation(make_field(2, 9), {}).used, 0);
  const ScanRotation flat = find_rotation(make_field(8, 9), {});
  EXPECT_EQ(flat.confidence, 0);
  EXPECT_EQ(flat.curl, 0.5);
}

// The angle scatters under noise as its standard error says.
TEST(Rotation, ScattersAsItsStandardErrorSays) {
  const VectorField clean = seen_gradient(0.4, false);
  double squares = 0, variance = 0;
  constexpr int trials = 60;
  for (int trial = 0; trial < trials; ++trial) {
    VectorField field = clean;
    std::vector<double> noise(field.x.size());
    for (std::vector<double>* component : {&field.x, &field.y}) {
      draw_normal({static_cast<std::uint64_t>(trial), component == &field.x ? 0U : 1U}, noise);
      for (std::size_t i = 0; i < noise.size(); ++i) (*component)[i] += 0.15 * noise[i];
    }
    const ScanRotation found = find_rotation(field, {});
    const double off = apart_in_turn(found.rotation, 0.4);
    squares += off * off / trials;
    variance += found.standard_error * found.standard_error / trials;
  }
  // 60 trials know a standard deviation to 1 / sqrt(120) = 9 %; blocks of a blurred field are not quite independent.
  EXPECT_NEAR(std::sqrt(variance / squares), 1, 0.3);
}

}  // namespace
}  // namespace sonde::stem
