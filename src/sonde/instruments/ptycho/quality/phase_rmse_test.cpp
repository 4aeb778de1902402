// SPDX-License-Identifier: Apache-2.0
// Distortions that are known, of a phase that is a formula, so that shifts need no interpolation.
#include "sonde/instruments/ptycho/quality/phase_rmse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <random>

#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

constexpr Index side = 96;
constexpr Box view{30, 34, 31, 29};

/// Periodic over the image.
double phase_at(double row, double col) {
  constexpr double turn = 2 * std::numbers::pi / side;
  return 0.25 * std::cos(turn * (7 * row + 3 * col) + 0.3) + 0.2 * std::cos(turn * (2 * row - 9 * col) + 1.1) +
         0.15 * std::sin(turn * (11 * row + 8 * col)) + 0.1 * std::cos(turn * (4 * row + 5 * col) + 2);
}

struct Distortion {
  double shift_row = 0, shift_col = 0, ramp_row = 0, ramp_col = 0;
  complex128 factor = 1;
};

Array object(const Distortion& by = {}) {
  Array result(Device::cpu(), {side, side}, DType::c128);
  const auto o = result.view<complex128, 2>();
  for (Index row = 0; row < side; ++row)
    for (Index col = 0; col < side; ++col) {
      const auto y = static_cast<double>(row), x = static_cast<double>(col);
      o(row, col) = by.factor * std::polar(1.0, phase_at(y - by.shift_row, x - by.shift_col) + by.ramp_row * (y - 45) +
                                                    by.ramp_col * (x - 48));
    }
  return result;
}

TEST(PhaseRmse, OfATruthBesideItselfIsZero) { EXPECT_LT(phase_rmse(object(), object(), view).rmse, 1e-14); }

TEST(PhaseRmse, DoesNotSeeAFactorAndARamp) {
  const PhaseComparison found =
      phase_rmse(object({.ramp_row = 0.03, .ramp_col = -0.05, .factor = std::polar(0.4, 2.0)}), object(), view);
  EXPECT_LT(found.rmse, 1e-12);
  EXPECT_NEAR(found.scale, 2.5, 1e-12);
  EXPECT_NEAR(found.ramp.per_row, 0.03, 1e-12);
  EXPECT_NEAR(found.ramp.per_col, -0.05, 1e-12);
}

TEST(PhaseRmse, DoesNotSeeASmallShift) {
  const PhaseComparison found = phase_rmse(object({.shift_row = 0.02, .shift_col = -0.03}), object(), view);
  // Second order of the shift: 1/2 (0.036 px)^2 times second derivatives of up to 0.5 rad/px^2, and central differences
  // that are 10 % short of derivatives, 0.1 * 0.036 px * 0.1 rad/px.
  EXPECT_LT(found.rmse, 6e-4);
  EXPECT_NEAR(found.shift_row, 0.02, 0.004);
  EXPECT_NEAR(found.shift_col, -0.03, 0.006);
}

TEST(PhaseRmse, SeesAShiftOfAPixelUnlessItIsLookedFor) {
  EXPECT_GT(phase_rmse(object({.shift_row = 1.5}), object(), view).rmse, 0.02);
}

TEST(PhaseRmse, OfABlindRunFindsShiftsOfPixelsAndRampsOfTurns) {
  const Distortion by{.shift_row = 2.37, .shift_col = -1.61, .ramp_row = 0.9, .ramp_col = -0.7, .factor = {0, 0.3}};
  const PhaseComparison found = phase_rmse(object(by), object(), view, Start::blind);
  // What the search to 1/100 pixel leaves is of first order and is taken out; the ramp it begins with is a little off
  // for the shift, so that the edges of the image, which are far from the view, do not fit.
  EXPECT_LT(found.rmse, 1e-3);
  EXPECT_NEAR(found.shift_row, 2.37, 0.01);
  EXPECT_NEAR(found.shift_col, -1.61, 0.01);
  EXPECT_NEAR(found.ramp.per_row, 0.9, 1e-3);
  EXPECT_NEAR(found.ramp.per_col, -0.7, 1e-3);
}

TEST(PhaseRmse, IsTheRmsOfNoiseButForFiveUnknowns) {
  std::mt19937 generator(5);
  std::normal_distribution<double> normal(0, 0.03);
  Array noisy = object({.factor = 2});
  const auto o = noisy.view<complex128, 2>();
  for (Index i = 0; i < o.count(); ++i) o.data[i] *= std::polar(1.0, normal(generator));
  const double pixels = 31 * 29;
  const double expected = 0.03 * std::sqrt(1 - 5 / pixels);
  EXPECT_NEAR(phase_rmse(noisy, object(), view).rmse, expected, 4 * 0.03 / std::sqrt(2 * pixels));  // 4 sigma
}

TEST(PhaseRmse, CountsTheViewAlone) {
  Array broken = object();
  const auto o = broken.view<complex128, 2>();
  for (Index row = 0; row < side; ++row)
    for (Index col = 0; col < side; ++col)
      if (row < view.row || row >= view.row + view.rows || col < view.col || col >= view.col + view.cols)
        o(row, col) = {0, 5};
  EXPECT_LT(phase_rmse(broken, object(), view).rmse, 1e-14);
}

TEST(Aligned, IsTheTruthAgain) {
  const Array found =
      aligned(object({.ramp_row = -0.4, .ramp_col = 0.8, .factor = {0, 0.3}}), object(), view, Start::blind);
  const Array truth = object();
  for (Index i = 0; i < truth.count(); ++i)
    EXPECT_LT(std::abs(found.view<complex128, 2>().data[i] - truth.view<complex128, 2>().data[i]), 1e-9);
}

TEST(PhaseRmse, OfImagesThatDoNotFitIsRefused) {
  using ::testing::HasSubstr;
  const auto refused = [](const Array& truth, const Box& box) {
    return sonde::testing::error_of(ErrorKind::bad_input, [&] { (void)phase_rmse(object(), truth, box); });
  };
  EXPECT_THAT(refused(Array::zeros(Device::cpu(), {96, 95}, DType::c128), view),
              HasSubstr("an object of (96, 96) beside a truth of (96, 95)"));
  // Central differences need a pixel around the view.
  EXPECT_THAT(refused(object(), {0, 1, 20, 20}), HasSubstr("20 x 20 pixels from [0, 1] cannot be compared"));
}

}  // namespace
}  // namespace sonde::ptycho
