// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/optimise/conjugate_gradients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "sonde/engine/device/parallel.h"
#include "sonde/engine/math/optimise/test_functions.h"
#include "sonde/engine/math/optimise/vectors.h"
#include "tests/support/errors.h"

namespace sonde {
namespace {

using testing::Numbers;

/// conjugate_iteration() on a quadratic function with exact steps, as an instrument with vectors of its own uses it.
struct ExactLines {
  explicit ExactLines(const testing::Quadratic& function)
      : of(function), x(of.size), descent(of.b), before(of.size), direction(of.size) {}
  GradientProducts products() const { return {dot(descent, descent), dot(descent, before), dot(before, before)}; }
  void turn(double beta) {
    combine<double>(beta, direction, 1, descent);
    before = descent;
  }
  double step(ConjugateMemory& memory) const {
    return step_along({-dot(descent, direction), dot(of.times(direction), direction) / 2}, memory);
  }
  void move(double step) {
    combine<double>(1, x, step, direction);
    combine<double>(1, descent, -step, of.times(direction));
  }
  static double dot(const Numbers& a, const Numbers& b) { return sonde::dot<double>(a, b); }

  const testing::Quadratic& of;
  Numbers x, descent, before, direction;
};

TEST(ConjugateIteration, EndsOnAQuadraticAfterAsManyIterationsAsNumbers) {
  for (const std::size_t n : {1, 2, 4, 7}) {
    SCOPED_TRACE(n);
    const testing::Quadratic quadratic(n);
    ExactLines run(quadratic);
    ConjugateMemory memory;
    const double first = std::sqrt(ExactLines::dot(run.descent, run.descent));
    for (std::size_t i = 0; i < n; ++i) conjugate_iteration(run, memory);
    // Directions lose their conjugacy by rounding, which the condition (2 n) multiplies in every step.
    EXPECT_LT(std::sqrt(ExactLines::dot(run.descent, run.descent)) / first, 1e-9);
    Numbers gradient(n);
    (void)quadratic(run.x, gradient);  // not the one that was carried along
    EXPECT_LT(std::sqrt(ExactLines::dot(gradient, gradient)) / first, 1e-9);
  }
}

TEST(ConjugateIteration, EndsOnAQuadraticAfterAsManyIterationsAsDifferentEigenvalues) {
  testing::Quadratic quadratic(60);
  std::fill(quadratic.a.begin(), quadratic.a.end(), 0.0);
  for (std::size_t i = 0; i < quadratic.size; ++i)
    quadratic.a[i * quadratic.size + i] = i % 3 == 0 ? 1 : i % 3 == 1 ? 5 : 9;
  ExactLines run(quadratic);
  ConjugateMemory memory;
  const double first = std::sqrt(ExactLines::dot(run.descent, run.descent));
  for (int i = 0; i < 2; ++i) conjugate_iteration(run, memory);
  EXPECT_GT(std::sqrt(ExactLines::dot(run.descent, run.descent)) / first, 1e-3);
  conjugate_iteration(run, memory);
  EXPECT_LT(std::sqrt(ExactLines::dot(run.descent, run.descent)) / first, 1e-13);  // 9 eps in each of three steps
}

TEST(ConjugateIteration, AlongAStraightLineTheStepIsHalfTheLastAndTheNextDirectionTheGradient) {
  ConjugateMemory memory{.step = 3, .restart = false};
  EXPECT_EQ(step_along({.slope = -1, .curvature = 0}, memory), 1.5);
  EXPECT_TRUE(memory.restart);
  EXPECT_EQ(polak_ribiere({.now = 9, .turned = 1, .before = 2}, memory), 0);
  EXPECT_EQ(step_along({.slope = -8, .curvature = 2}, memory), 2);
  EXPECT_FALSE(memory.restart);
  EXPECT_EQ(polak_ribiere({.now = 9, .turned = 1, .before = 2}, memory), 4);
  EXPECT_EQ(polak_ribiere({.now = 1, .turned = 9, .before = 2}, memory), 0) << "never below zero";
  EXPECT_EQ(polak_ribiere({.now = 1}, memory), 0) << "nothing came before";
}

struct Minimum {
  std::string name;
  Objective<double> function;
  Numbers start, minimum;
};
const std::vector<Minimum>& published_minima() {
  static const std::vector<Minimum> all{
      {"rosenbrock", testing::extended_rosenbrock<double>, {-1.2, 1}, {1, 1}},
      {"extended rosenbrock", testing::extended_rosenbrock<double>, {-1.2, 1, -1.2, 1, -1.2, 1}, {1, 1, 1, 1, 1, 1}},
      {"wood", testing::wood, {-3, -1, -3, -1}, {1, 1, 1, 1}},
      {"beale", testing::beale, {1, 1}, {3, 0.5}}};
  return all;
}

TEST(ConjugateGradients, FindThePublishedMinima) {
  for (const Minimum& one : published_minima()) {
    SCOPED_TRACE(one.name);
    ConjugateGradients<double> run(one.function, one.start, {.tolerance = 1e-9});
    EXPECT_EQ(run.run(500), Descent::converged);
    // The gradient over the smallest eigenvalue of the Hessian there, 0.4 (Rosenbrock's) or more.
    for (std::size_t i = 0; i < one.start.size(); ++i) EXPECT_NEAR(run.state().x[i], one.minimum[i], 1e-8);
    EXPECT_LT(run.state().value, 1e-16);
  }
}

TEST(ConjugateGradients, OfAQuadraticNeedFewMoreIterationsThanNumbers) {
  const testing::Quadratic quadratic(30);
  ConjugateGradients<double> run(quadratic, Numbers(30), {.tolerance = 1e-6, .line = {.curvature = 1e-3}});
  EXPECT_EQ(run.run(60), Descent::converged);
  EXPECT_LE(run.state().iterations, 40);
}

TEST(ConjugateGradients, AgreeInSinglePrecision) {
  ConjugateGradients<float> run(testing::extended_rosenbrock<float>, {-1.2f, 1}, {.tolerance = 1e-4});
  EXPECT_EQ(run.run(500), Descent::converged);
  for (const float each : run.state().x) EXPECT_NEAR(each, 1, 1e-3);  // 1e-4 over 0.4, with room for rounding of 400 x
}

template <class State>
void expect_same_bits(const State& a, const State& b) {
  EXPECT_EQ(a.x, b.x);
  EXPECT_EQ(a.value, b.value);
  EXPECT_EQ(a.evaluations, b.evaluations);
}

TEST(ConjugateGradients, GoOnFromTheirStateWithTheSameBits) {
  for (const Minimum& one : published_minima())
    for (const Index stop : {0, 1, 2, 5, 11}) {
      SCOPED_TRACE(one.name + " stopped at " + std::to_string(stop));
      ConjugateGradients<double> whole(one.function, one.start), first(one.function, one.start);
      (void)first.run(stop);
      ConjugateGradients<double> second(one.function, ConjugateGradients<double>::State(first.state()));
      for (Index i = stop; i < 25; ++i) (void)second.iterate();
      for (Index i = 0; i < 25; ++i) (void)whole.iterate();
      expect_same_bits(second.state(), whole.state());
      EXPECT_EQ(second.state().memory, whole.state().memory);
    }
}

TEST(ConjugateGradients, HaveTheSameBitsOnAnyNumberOfThreads) {
  const std::size_t count = 40000;
  Numbers start(count);
  for (std::size_t i = 0; i < count; ++i) start[i] = i % 2 == 0 ? -1.2 + 1e-5 * static_cast<double>(i) : 1;
  const auto minimised = [&](int threads) {
    set_thread_count(threads);
    ConjugateGradients<double> run(testing::extended_rosenbrock<double>, start);
    (void)run.run(8);
    set_thread_count(0);
    return run.state().x;
  };
  EXPECT_EQ(minimised(2), minimised(1));
}

TEST(ConjugateGradients, AFunctionWithoutALowerValueEndsStalled) {
  // The gradient has the wrong sign: no step along it is lower.
  ConjugateGradients<double> run(
      [](std::span<const double> x, std::span<double> gradient) {
        gradient[0] = -2 * x[0];
        return x[0] * x[0];
      },
      {1});
  EXPECT_EQ(run.run(10), Descent::stalled);
  EXPECT_EQ(run.state().x[0], 1);
}

TEST(ConjugateGradients, BeginWhereTheFunctionIsFinite) {
  const Objective<double> nowhere = [](std::span<const double>, std::span<double>) {
    return std::numeric_limits<double>::quiet_NaN();
  };
  EXPECT_THAT(testing::error_of(ErrorKind::bad_input, [&] { ConjugateGradients<double>(nowhere, {1}); }),
              ::testing::HasSubstr("begins where its function is nan"));
}

}  // namespace
}  // namespace sonde
