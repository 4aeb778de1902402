// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/run/operator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sonde/instruments/maxwell/grid/stability.h"
#include "sonde/instruments/maxwell/propagate/test_problem.h"
#include "tests/support/errors.h"

namespace sonde::maxwell {
namespace {

using testing::MixedCase;

/// `ratio`: inner steps in one of the survey.
struct OperatorCase {
  MixedCase medium{};
  double ratio = 0.9;
  bool corrected = false;
  PaddingGradient padding = PaddingGradient::exact;
};

Operator mixed_operator(const OperatorCase& which, Index steps, Precision precision) {
  Problem problem = testing::mixed_problem(which.medium);
  const double dt = which.ratio * largest_time_step(problem.grid, problem.medium);
  return Operator(std::move(problem), {}, 1 / (20 * dt),
                  {.dt = dt, .steps = steps, .corrected = which.corrected, .precision = precision});
}

/// [point][step], E and H of the order of 1.
std::vector<double> mixed_series(const Problem& problem, const std::vector<Point>& points, Index steps, unsigned seed) {
  testing::Numbers numbers(seed);
  std::vector<double> made;
  for (const Point& point : points)
    for (Index n = 0; n < steps; ++n)
      made.push_back(numbers() * problem.grid.cell_volume() * (is_electric(point.component) ? 1 : 300));
  return made;
}

Shot mixed_operator_shot(const Problem& problem, Index steps) {
  Shot made{testing::mixed_shot(problem), {}};
  made.amplitudes = mixed_series(problem, made.points.sources, steps, 3);
  return made;
}

/// A change of the model's elements, located at the nodes.
ModelChange model_change(const Grid& grid, unsigned seed) {
  testing::Numbers numbers(seed);
  std::size_t count = 1;
  for (const Axis axis : all_axes) count *= static_cast<std::size_t>(grid.cells(axis));
  return {numbers.list(count), numbers.list(count, -0.05, 0.05), numbers.list(count)};
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

StoragePlan plan_of(const Operator& waves, const GradientOf& of) {
  StorageRequest request = waves.storage_request(of, 0);
  request.host_bytes = 1U << 30U;
  return plan_storage(request, {});
}

class OperatorOf : public ::testing::TestWithParam<OperatorCase> {
 protected:
  static constexpr Index steps = 24;

  /// <J v, r> - <v, J' r> over |J v| |r|, v being a change of every element of the model and every amplitude.
  [[nodiscard]] static double asymmetry(Precision precision) {
    const OperatorCase& which = GetParam();
    Operator waves = mixed_operator(which, steps, precision);
    const Problem& problem = waves.problem();
    const Shot shot = mixed_operator_shot(problem, steps);
    const ModelChange change = model_change(problem.grid, 8);
    const std::vector<double> amplitudes = mixed_series(problem, shot.points.sources, steps, 9);
    const std::vector<double> r = mixed_series(problem, shot.points.receivers, steps, 10);
    const std::vector<double> jv =
        waves.born(shot, locate_change(change, MaterialLocation::cell, which.padding, problem.grid), amplitudes);
    const GradientOf of{.mu_r = true, .sources = true, .padding = which.padding};
    waves.prepare_gradient(of, plan_of(waves, of), TierBudgets::unlimited());
    const ShotGradient found = waves.gradient(shot, [&](std::span<const double>, std::span<double> residual) {
      std::copy(r.begin(), r.end(), residual.begin());
      return 0.0;
    });
    const ModelChange g = gather_change(found.medium, MaterialLocation::cell, which.padding, problem.grid);
    const double transposed = dot(change.eps_r, g.eps_r) + dot(change.sigma, g.sigma) + dot(change.mu_r, g.mu_r) +
                              dot(amplitudes, found.sources);
    return std::abs(dot(jv, r) - transposed) / std::sqrt(dot(jv, jv) * dot(r, r));
  }
};

TEST_P(OperatorOf, GradientIsTheTransposeOfTheDerivative) {
  // Rounding of float64; of float32 in fields of some thousand nodes.
  EXPECT_LT(asymmetry(Precision::f64), 1e-12);
  EXPECT_LT(asymmetry(Precision::f32), 1e-4);
}

TEST_P(OperatorOf, DerivativeIsTheLimitOfDifferences) {
  const OperatorCase& which = GetParam();
  Operator waves = mixed_operator(which, steps, Precision::f64);
  const Problem problem = waves.problem();
  const Shot shot = mixed_operator_shot(problem, steps);
  const ModelChange change = model_change(problem.grid, 8);
  const ComponentChange located = locate_change(change, MaterialLocation::cell, which.padding, problem.grid);
  const std::vector<double> jv = waves.born(shot, located, {});
  const auto moved = [&](double h) {
    ComponentMedium medium = problem.medium;
    for (std::size_t c = 0; c < 3; ++c)
      for (const auto& [values, by] :
           {std::pair(&medium.eps_r[c], &located.eps_r[c]), std::pair(&medium.sigma[c], &located.sigma[c]),
            std::pair(&medium.mu_r[c], &located.mu_r[c])})
        for (std::size_t i = 0; i < by->size(); ++i) (*values)[i] += h * (*by)[i];
    waves.set_medium(std::move(medium));
    return waves.forward(shot);
  };
  // The error of a central difference of this width is of the order of h^2, its rounding eps / h.
  const double h = 1e-5;
  const std::vector<double> plus = moved(h), minus = moved(-h);
  double most = 0, worst = 0;
  for (std::size_t i = 0; i < jv.size(); ++i) {
    most = std::max(most, std::abs(jv[i]));
    worst = std::max(worst, std::abs((plus[i] - minus[i]) / (2 * h) - jv[i]));
  }
  EXPECT_LT(worst, 1e-8 * most);
}

INSTANTIATE_TEST_SUITE_P(Cases, OperatorOf,
                         ::testing::Values(OperatorCase{}, OperatorCase{.medium = {.order = 8}, .ratio = 2.7},
                                           OperatorCase{.medium = {.order = 4}, .corrected = true},
                                           OperatorCase{.medium = {.order = 4}, .ratio = 1.7, .corrected = true},
                                           OperatorCase{.medium = {.order = 6}, .padding = PaddingGradient::frozen},
                                           OperatorCase{.medium = {.poles = 2}, .ratio = 1.9},
                                           OperatorCase{.medium = {.order = 4, .loss = LossForm::exponential}},
                                           OperatorCase{.medium = {.mode = Mode::em3d}, .ratio = 1.8},
                                           OperatorCase{.medium = {.mode = Mode::em3d, .order = 4},
                                                        .padding = PaddingGradient::frozen}),
                         [](const auto& each) {
                           const OperatorCase& c = each.param;
                           return testing::text_of(c.medium) + (c.ratio > 1 ? "SubStepped" : "") +
                                  (c.corrected ? "Corrected" : "") +
                                  (c.padding == PaddingGradient::frozen ? "Frozen" : "");
                         });

TEST(OperatorOfALongStep, IsRefused) {
  EXPECT_EQ(
      sonde::testing::error_of(ErrorKind::bad_input, [] { (void)mixed_operator({.ratio = 65}, 2, Precision::f32); })
          .substr(0, 11),
      "error: dt =");
}

}  // namespace
}  // namespace sonde::maxwell
