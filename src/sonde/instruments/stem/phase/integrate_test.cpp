// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/phase/integrate.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <tuple>

#include "sonde/engine/math/random.h"

namespace sonde::stem {
namespace {

constexpr double pi = std::numbers::pi;

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

std::vector<double> without_mean(std::vector<double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  for (double& value : values) value -= sum / static_cast<double>(values.size());
  return values;
}

double rms_between(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum / static_cast<double>(a.size()));
}

struct Known {
  VectorField gradient;
  std::vector<double> phase;
};

/// A few waves that fit rows x cols positions, none of them at the last frequency.
Known periodic(Index rows, Index cols, double step_row, double step_col) {
  Known known{make_field(rows, cols, step_row, step_col), std::vector<double>(static_cast<std::size_t>(rows * cols))};
  for (const auto& [down, across, height, start] : {std::tuple(1, 2, 1.0, 0.3), std::tuple(0, 3, -0.4, 1.1),
                                                    std::tuple(3, 0, 0.7, 2.0), std::tuple(2, -2, 0.5, 0.0)}) {
    const double qy = 2 * pi * down / (static_cast<double>(rows) * step_row),
                 qx = 2 * pi * across / (static_cast<double>(cols) * step_col);
    for (Index i = 0; i < rows * cols; ++i) {
      const auto here = static_cast<std::size_t>(i);
      const double turn =
          qy * step_row * static_cast<double>(i / cols) + qx * step_col * static_cast<double>(i % cols) + start;
      known.phase[here] += height * std::cos(turn);
      known.gradient.y[here] -= height * qy * std::sin(turn);
      known.gradient.x[here] -= height * qx * std::sin(turn);
    }
  }
  return known;
}

/// exp(-x) cos(2 y) + x y on [0, 1.3] x [0, 1] (columns x rows): neither periodic nor flat at the border.
Known smooth(Index rows, Index cols) {
  Known known{make_field(rows, cols, 1.0 / static_cast<double>(rows), 1.3 / static_cast<double>(cols)), {}};
  for (Index i = 0; i < rows * cols; ++i) {
    const auto here = static_cast<std::size_t>(i);
    const double y = (static_cast<double>(i / cols) + 0.5) * known.gradient.step_row,
                 x = (static_cast<double>(i % cols) + 0.5) * known.gradient.step_col;
    known.phase.push_back(std::exp(-x) * std::cos(2 * y) + x * y);
    known.gradient.x[here] = -std::exp(-x) * std::cos(2 * y) + y;
    known.gradient.y[here] = -2 * std::exp(-x) * std::sin(2 * y) + x;
  }
  known.phase = without_mean(known.phase);
  return known;
}

class FourierIntegral : public ::testing::TestWithParam<std::array<Index, 2>> {};
INSTANTIATE_TEST_SUITE_P(EvenAndOdd, FourierIntegral,
                         ::testing::Values(std::array<Index, 2>{16, 20}, std::array<Index, 2>{15, 22},
                                           std::array<Index, 2>{18, 13}, std::array<Index, 2>{17, 21}));

TEST_P(FourierIntegral, IsExactForPeriodicFields) {
  const auto [rows, cols] = GetParam();
  const Known known = periodic(rows, cols, 0.7, 1.2);
  // Nothing but rounding: far below the 1e-5 of the range that f32 results have.
  EXPECT_LT(rms_between(integrate_fourier(known.gradient, {.padding = 1}), known.phase), 1e-12);
}

TEST(FourierFilters, AreButterworths) {
  const VectorField field = [] {  // one wave along the columns
    VectorField made = make_field(12, 16, 0.5, 0.5);
    for (Index i = 0; i < made.positions(); ++i)
      made.x[static_cast<std::size_t>(i)] = std::sin(2 * pi * 3 * static_cast<double>(i % 16) / 16);
    return made;
  }();
  const double q = 3 / 8.0;
  const double whole = largest(integrate_fourier(field, {.padding = 1}));
  EXPECT_NEAR(whole, 1 / (2 * pi * q), 1e-12);
  EXPECT_NEAR(largest(integrate_fourier(field, {.padding = 1, .lowpass = q})), whole / 2, 1e-12);
  EXPECT_NEAR(largest(integrate_fourier(field, {.padding = 1, .lowpass = q / 2, .order = 3})), whole / 65, 1e-12);
  EXPECT_NEAR(largest(integrate_fourier(field, {.padding = 1, .highpass = 2 * q})), whole * (1 - 1 / (1 + 1.0 / 16)),
              1e-12);
  EXPECT_NEAR(largest(integrate_fourier(field, {.padding = 1, .regularise = q * q})), whole / 2, 1e-12);
}

TEST(FourierIntegralOfAWave, AtTheLastFrequencyOfAnEvenSizeIsNothing) {
  VectorField field = make_field(6, 8);
  for (Index i = 0; i < field.positions(); ++i) field.x[static_cast<std::size_t>(i)] = i % 2 == 0 ? 1 : -1;
  EXPECT_LT(largest(integrate_fourier(field, {.padding = 1})), 1e-15);
}

TEST(CosineIntegral, ErrorFallsWithTheSquareOfTheStep) {
  std::vector<double> errors;
  for (const Index rows : {24, 48, 96}) {
    const Known known = smooth(rows, rows + rows / 3);
    errors.push_back(rms_between(integrate_cosine(known.gradient), known.phase));
  }
  EXPECT_LT(errors.front(), 1e-3);
  for (std::size_t i = 1; i < errors.size(); ++i) EXPECT_NEAR(std::log2(errors[i - 1] / errors[i]), 2, 0.1);
}

/// Of the sum that is minimised.
double squares_of(const VectorField& g, const std::vector<double>& phase, double regularise) {
  double sum = 0;
  for (Index row = 0; row < g.rows; ++row)
    for (Index col = 0; col < g.cols; ++col) {
      const auto here = static_cast<std::size_t>(row * g.cols + col);
      sum += regularise * phase[here] * phase[here];
      const auto add = [&](std::size_t other, double step, const std::vector<double>& component) {
        const double off = (phase[other] - phase[here]) / step - (component[here] + component[other]) / 2;
        sum += off * off;
      };
      if (col + 1 < g.cols) add(here + 1, g.step_col, g.x);
      if (row + 1 < g.rows) add(here + static_cast<std::size_t>(g.cols), g.step_row, g.y);
    }
  return sum;
}

TEST(CosineIntegral, MinimisesItsSumOfSquares) {
  VectorField field = make_field(6, 9, 0.7, 1.1);
  draw_normal({1, 0}, field.x);
  draw_normal({1, 1}, field.y);
  for (const double regularise : {0.0, 0.3}) {
    SCOPED_TRACE(regularise);
    const std::vector<double> phase = integrate_cosine(field, regularise);
    const double least = squares_of(field, phase, regularise);
    for (std::size_t i = 0; i < phase.size(); i += 5)
      for (const double change : {-1e-3, 1e-3}) {
        std::vector<double> other = phase;
        other[i] += change;
        // At a minimum the change is half the curvature times its square: at least 1e-6 times 1 / step^2.
        EXPECT_GT(squares_of(field, other, regularise), least + 0.5e-6) << i;
      }
  }
}

TEST(CosineIntegral, OfOneRowIsThatOfALine) {
  VectorField field = make_field(1, 40, 1, 0.5);
  for (std::size_t i = 0; i < 40; ++i) field.x[i] = 2;
  const std::vector<double> phase = integrate_cosine(field);
  for (std::size_t i = 1; i < 40; ++i) EXPECT_NEAR(phase[i] - phase[i - 1], 1, 1e-12);
}

TEST(ConjugateIntegral, IsTheCosineIntegralWhereNothingIsMissing) {
  const Known known = smooth(20, 27);
  const ConjugateIntegral found = integrate_conjugate(known.gradient);
  EXPECT_TRUE(found.converged);
  EXPECT_EQ(found.iterations, 1);
  EXPECT_LT(rms_between(found.values, integrate_cosine(known.gradient)), 1e-12);
}

TEST(ConjugateIntegral, LeavesMissingPositionsOut) {
  Known known = smooth(40, 54);
  // A block of a sixth of the scan, and single positions.
  for (Index row = 0; row < 40; ++row)
    for (Index col = 0; col < 54; ++col)
      if ((row >= 12 && row < 26 && col >= 18 && col < 44) || (row * 54 + col) % 31 == 0) {
        const auto here = static_cast<std::size_t>(row * 54 + col);
        known.gradient.valid[here] = 0;
        known.gradient.x[here] = known.gradient.y[here] = std::numeric_limits<double>::quiet_NaN();
      }
  const ConjugateIntegral found = integrate_conjugate(known.gradient);
  EXPECT_TRUE(found.converged);
  EXPECT_EQ(found.regions, 1);
  EXPECT_LT(found.iterations, 60);
  std::vector<double> values, phase;
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    if (known.gradient.valid[i] == 0) {
      EXPECT_TRUE(std::isnan(found.values[i]));
      continue;
    }
    values.push_back(found.values[i]);
    phase.push_back(known.phase[i]);
  }
  EXPECT_LT(rms_between(values, without_mean(phase)), 1e-3);  // as integrate_cosine() of the whole field
}

TEST(ConjugateIntegral, CountsWeigh) {
  VectorField field = make_field(1, 3);
  field.x = {1, 1, 1};
  field.counts = {100, 1, 100};
  const ConjugateIntegral found = integrate_conjugate(field);
  EXPECT_NEAR(found.values[2] - found.values[0], 2, 1e-9);  // a line fits whatever the weights
  VectorField loop = make_field(2, 2);                      // around which the field does not close
  loop.x = {1, 1, 0, 0};
  loop.counts = {1e6, 1e6, 1, 1};
  const ConjugateIntegral tilted = integrate_conjugate(loop);
  EXPECT_NEAR(tilted.values[1] - tilted.values[0], 1, 1e-5);  // the pair that counts holds
  EXPECT_NEAR(integrate_conjugate(loop, {.weigh_counts = false}).values[1] -
                  integrate_conjugate(loop, {.weigh_counts = false}).values[0],
              0.75, 1e-9);
}

TEST(ConjugateIntegral, PartsWithoutAConnectionAreCounted) {
  VectorField field = make_field(5, 8);
  field.x.assign(40, 1);
  for (Index row = 0; row < 5; ++row) {
    const auto here = static_cast<std::size_t>(row * 8 + 3);
    field.valid[here] = 0;
    field.x[here] = field.y[here] = std::numeric_limits<double>::quiet_NaN();
  }
  const ConjugateIntegral found = integrate_conjugate(field);
  EXPECT_EQ(found.regions, 2);
  EXPECT_NEAR(found.values[0], -1, 1e-9);  // 0 to 2 about their mean
  EXPECT_NEAR(found.values[7], 1.5, 1e-9);
}

}  // namespace
}  // namespace sonde::stem
