// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/optimise/truncated_newton.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sonde/engine/math/optimise/test_functions.h"
#include "tests/support/errors.h"

namespace sonde {
namespace {

using testing::Numbers;

HessianProduct<double> hessian_of(const testing::Quadratic& function) {
  return [&function](std::span<const double>, std::span<const double> vector, std::span<double> product) {
    const Numbers made = function.times(vector);
    std::ranges::copy(made, product.begin());
  };
}

TEST(TruncatedNewton, FindsTheMinimumOfAQuadraticFunction) {
  const testing::Quadratic function(40);
  TruncatedNewton<double> run(function, hessian_of(function), Numbers(40), {}, {.products = 40, .tolerance = 1e-9});
  // The forcing share is squared from iteration to iteration, so that few are needed.
  EXPECT_EQ(run.run(8), Descent::converged);
  const Numbers ax = function.times(run.state().x);
  for (std::size_t i = 0; i < 40; ++i) EXPECT_NEAR(ax[i], function.b[i], 1e-8);
}

/// The Hessian of Gauss and Newton for the residuals 10 (y - x^2) and 1 - x of Rosenbrock's function, twice J' J.
void rosenbrock_gauss_newton(std::span<const double> x, std::span<const double> v, std::span<double> product) {
  for (std::size_t i = 0; i + 1 < x.size(); i += 2) {
    const double first = -20 * x[i] * v[i] + 10 * v[i + 1];
    product[i] = 2 * (-20 * x[i] * first + v[i]);
    product[i + 1] = 2 * 10 * first;
  }
}

TEST(TruncatedNewton, FindsTheMinimumByTheMatrixOfGaussAndNewton) {
  TruncatedNewton<double> run(testing::extended_rosenbrock<double>, rosenbrock_gauss_newton, {-1.2, 1, -1.2, 1}, {},
                              {.tolerance = 1e-9});
  EXPECT_EQ(run.run(60), Descent::converged);
  for (const double each : run.state().x) EXPECT_NEAR(each, 1, 1e-8);
}

TEST(TruncatedNewton, MeetsBoundsExactly) {
  // Hock and Schittkowski (1981), problem 1 with y <= 1/4: d/dx of 100 (1/4 - x^2)^2 + (1 - x)^2 is zero there.
  constexpr double none = std::numeric_limits<double>::infinity();
  TruncatedNewton<double> run(testing::extended_rosenbrock<double>, rosenbrock_gauss_newton, {0.3, 0.1},
                              {{-none, -1.5}, {none, 0.25}}, {.tolerance = 1e-9});
  EXPECT_EQ(run.run(100), Descent::converged);
  EXPECT_EQ(run.state().x[1], 0.25);
  const double x = run.state().x[0];
  EXPECT_NEAR(400 * x * x * x - 98 * x - 2, 0, 1e-8);
}

TEST(TruncatedNewton, NeedsOneProductWhereThePreconditionerIsTheInverseHessian) {
  const auto curvature = [](std::size_t i) { return std::pow(10.0, static_cast<double>(i) / 5); };
  const Objective<double> function = [&](std::span<const double> x, std::span<double> gradient) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      gradient[i] = curvature(i) * (x[i] - 1);
      sum += gradient[i] * (x[i] - 1) / 2;
    }
    return sum;
  };
  const HessianProduct<double> hessian = [&](std::span<const double>, std::span<const double> v, std::span<double> to) {
    for (std::size_t i = 0; i < v.size(); ++i) to[i] = curvature(i) * v[i];
  };
  Numbers inverse;
  for (std::size_t i = 0; i < 30; ++i) inverse.push_back(3 / curvature(i));
  TruncatedNewton<double> run(function, hessian, Numbers(30), {}, {.tolerance = 1e-7}, inverse);
  EXPECT_EQ(run.run(1), Descent::converged);
  EXPECT_EQ(run.state().products, 1);
}

TEST(TruncatedNewton, GoesOnFromAStateWithTheSameBits) {
  const Numbers start{-1.2, 1, -1.2, 1};
  TruncatedNewton<double> whole(testing::extended_rosenbrock<double>, rosenbrock_gauss_newton, start, {}),
      first(testing::extended_rosenbrock<double>, rosenbrock_gauss_newton, start, {});
  (void)whole.run(7);
  (void)first.run(3);
  TruncatedNewton<double> second(testing::extended_rosenbrock<double>, rosenbrock_gauss_newton, first.state(), {});
  (void)second.run(4);
  EXPECT_EQ(second.state().x, whole.state().x);
  EXPECT_EQ(second.state().products, whole.state().products);
}

TEST(TruncatedNewton, ImpossibleBoundsAreErrors) {
  EXPECT_THAT(testing::error_of(ErrorKind::bad_input,
                                [] {
                                  TruncatedNewton<double>(testing::extended_rosenbrock<double>, rosenbrock_gauss_newton,
                                                          Numbers{0, 0}, {{0, 2}, {1, 1}});
                                }),
              ::testing::HasSubstr("number 1: the lower bound 2 is above the upper one, 1"));
}

}  // namespace
}  // namespace sonde
