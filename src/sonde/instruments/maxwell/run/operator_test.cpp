// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/run/operator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sonde/instruments/maxwell/grid/stability.h"
#include "sonde/instruments/maxwell/propagate/test_problem.h"
#include "tests/support/devices.h"
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

Operator mixed_operator(const OperatorCase& which, Index steps, Precision precision, Device device = Device::cpu()) {
  Problem problem = testing::mixed_problem(which.medium);
  const double dt = which.ratio * largest_time_step(problem.grid, problem.medium);
  return Operator(std::move(problem), {}, 1 / (20 * dt),
                  {.dt = dt, .steps = steps, .corrected = which.corrected, .precision = precision, .device = device});
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
  if (!waves.settings().device.is_cpu()) request.device_bytes = 1U << 30U;
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

/// 1/2 |record - observed|^2, and the product of its second derivative, the change of the record.
struct Squares {
  std::vector<double> observed;
  double operator()(std::span<const double> record, std::span<double> residual) const {
    double sum = 0;
    for (std::size_t i = 0; i < record.size(); ++i) {
      residual[i] = record[i] - observed[i];
      sum += residual[i] * residual[i] / 2;
    }
    return sum;
  }
  double operator()(std::span<const double> record, std::span<const double> record_change, std::span<double> residual,
                    std::span<double> residual_change) const {
    std::copy(record_change.begin(), record_change.end(), residual_change.begin());
    return (*this)(record, residual);
  }
};

ComponentMedium moved_by(const ComponentMedium& medium, const ComponentChange& change, double h) {
  ComponentMedium made = medium;
  for (std::size_t c = 0; c < 3; ++c)
    for (const auto& [values, by] :
         {std::pair(&made.eps_r[c], &change.eps_r[c]), std::pair(&made.sigma[c], &change.sigma[c]),
          std::pair(&made.mu_r[c], &change.mu_r[c])})
      for (std::size_t i = 0; i < by->size(); ++i) (*values)[i] += h * (*by)[i];
  return made;
}

/// 0.7 of what the medium as it is records: a residual that is no small one.
Squares squares_of(Operator& waves, const Shot& shot) {
  std::vector<double> observed = waves.forward(shot);
  for (double& value : observed) value *= 0.7;
  return {observed};
}

TEST_P(OperatorOf, HessianIsTheLimitOfDifferencesOfTheGradient) {
  const OperatorCase& which = GetParam();
  if (which.medium.loss == LossForm::exponential) return;  // refused, see below
  Operator waves = mixed_operator(which, steps, Precision::f64);
  const Problem problem = waves.problem();
  const Shot shot = mixed_operator_shot(problem, steps);
  const ComponentChange change =
      locate_change(model_change(problem.grid, 8), MaterialLocation::cell, which.padding, problem.grid);
  const Squares loss = squares_of(waves, shot);
  const GradientOf of{.mu_r = true, .sources = true, .padding = which.padding};
  waves.prepare_gradient(of, plan_of(waves, of), TierBudgets::unlimited());
  const ShotGradient product = waves.hessian_product(shot, change, {}, loss, Operator::Hessian::full);
  const double h = 1e-5;
  const auto gradient_at = [&](double step) {
    waves.set_medium(moved_by(problem.medium, change, step));
    return waves.gradient(shot, loss);
  };
  const ShotGradient plus = gradient_at(h), minus = gradient_at(-h);
  const auto compare = [&](const std::vector<double>& a, const std::vector<double>& b, const std::vector<double>& by) {
    double most = 0, worst = 0;
    for (std::size_t i = 0; i < by.size(); ++i) {
      const double wanted = (a[i] - b[i]) / (2 * h);
      most = std::max(most, std::abs(wanted));
      worst = std::max(worst, std::abs(wanted - by[i]));
    }
    // What a central difference of this width is worth.
    EXPECT_LE(worst, 5e-8 * most);
  };
  for (std::size_t c = 0; c < 3; ++c) {
    compare(plus.medium.eps_r[c], minus.medium.eps_r[c], product.medium.eps_r[c]);
    compare(plus.medium.sigma[c], minus.medium.sigma[c], product.medium.sigma[c]);
    compare(plus.medium.mu_r[c], minus.medium.mu_r[c], product.medium.mu_r[c]);
  }
  compare(plus.sources, minus.sources, product.sources);
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

/// One list of eps_r and sigma of the elements, and back to a gradient of the same elements.
std::vector<double> in_one_list(const ModelChange& of) {
  std::vector<double> made = of.eps_r;
  made.insert(made.end(), of.sigma.begin(), of.sigma.end());
  return made;
}

/// A problem of order 4 in float64 whose eps_r and sigma change.
class SecondOrder : public ::testing::Test {
 protected:
  SecondOrder() { waves_.prepare_gradient({}, plan_of(waves_, {}), TierBudgets::unlimited()); }

  [[nodiscard]] ModelChange change(unsigned seed) const {
    ModelChange made = model_change(grid(), seed);
    made.mu_r.clear();
    return made;
  }
  [[nodiscard]] ComponentChange located(const ModelChange& of) const {
    return locate_change(of, MaterialLocation::node, PaddingGradient::exact, grid());
  }
  [[nodiscard]] std::vector<double> gathered(const ComponentChange& of) const {
    return in_one_list(gather_change(of, MaterialLocation::node, PaddingGradient::exact, grid()));
  }
  [[nodiscard]] std::vector<double> product(const ModelChange& of, const Squares& loss, Operator::Hessian which) {
    return gathered(waves_.hessian_product(shot_, located(of), {}, loss, which).medium);
  }
  [[nodiscard]] const Grid& grid() const { return waves_.problem().grid; }

  Operator waves_ = mixed_operator({.medium = {.order = 4}}, 24, Precision::f64);
  Shot shot_ = mixed_operator_shot(waves_.problem(), 24);
};

TEST_F(SecondOrder, ProductOfGaussAndNewtonIsSymmetricAndPositive) {
  const Squares loss = squares_of(waves_, shot_);
  const ModelChange a = change(8), b = change(9);
  const std::vector<double> of_a = product(a, loss, Operator::Hessian::gauss_newton);
  const std::vector<double> of_b = product(b, loss, Operator::Hessian::gauss_newton);
  const double aa = dot(in_one_list(a), of_a), bb = dot(in_one_list(b), of_b);
  EXPECT_GT(aa, 0);
  EXPECT_GT(bb, 0);
  // Rounding.
  EXPECT_LT(std::abs(dot(in_one_list(b), of_a) - dot(in_one_list(a), of_b)), 1e-12 * std::sqrt(aa * bb));
}

TEST_F(SecondOrder, ProductOfGaussAndNewtonIsTheHessianWhereTheResidualIsZero) {
  const Squares loss{waves_.forward(shot_)};
  const ModelChange a = change(8);
  const std::vector<double> part = product(a, loss, Operator::Hessian::gauss_newton);
  const std::vector<double> full = product(a, loss, Operator::Hessian::full);
  double most = 0, worst = 0;
  for (std::size_t i = 0; i < full.size(); ++i) {
    most = std::max(most, std::abs(part[i]));
    worst = std::max(worst, std::abs(full[i] - part[i]));
  }
  EXPECT_LT(worst, 1e-12 * most);
}

TEST_F(SecondOrder, TaylorSeriesHasErrorsOfSecondAndOfThirdOrder) {
  const Squares loss = squares_of(waves_, shot_);
  const ModelChange along = change(8);
  const ShotGradient gradient = waves_.gradient(shot_, loss);
  const double slope = dot(in_one_list(along), gathered(gradient.medium));
  const double curvature = dot(in_one_list(along), product(along, loss, Operator::Hessian::full));
  const Problem problem = waves_.problem();
  const auto remainders = [&](double h) {
    waves_.set_medium(moved_by(problem.medium, located(along), h));
    const std::vector<double> record = waves_.forward(shot_);
    std::vector<double> residual(record.size());
    const double first = loss(record, residual) - gradient.value - h * slope;
    return std::pair(std::abs(first), std::abs(first - h * h * curvature / 2));
  };
  // Slopes over three decades. What is left of the next order falls as h does; the third order meets rounding sooner.
  for (const double h : {3e-2, 3e-3, 3e-4}) {
    const auto large = remainders(h), small = remainders(h / 10);
    EXPECT_NEAR(std::log10(large.first / small.first), 2, 0.05) << h;
    if (h > 1e-3) {
      EXPECT_NEAR(std::log10(large.second / small.second), 3, 0.05) << h;
    }
  }
}

TEST(HessianOfExponentialLoss, IsRefused) {
  Operator waves = mixed_operator({.medium = {.loss = LossForm::exponential}}, 4, Precision::f64);
  const Shot shot = mixed_operator_shot(waves.problem(), 4);
  EXPECT_EQ(
      sonde::testing::error_of(ErrorKind::not_supported,
                               [&] { (void)waves.hessian_product(shot, {}, {}, Squares{}, Operator::Hessian::full); }),
      "error: the Hessian of a run with exponential loss is not known\n"
      "hint: take the semi-implicit form, or the product of Gauss and Newton");
}

TEST(OperatorOfALongStep, IsRefused) {
  EXPECT_EQ(
      sonde::testing::error_of(ErrorKind::bad_input, [] { (void)mixed_operator({.ratio = 65}, 2, Precision::f32); })
          .substr(0, 11),
      "error: dt =");
}

class OperatorOnEachDevice : public sonde::testing::EachDevice {
 protected:
  static constexpr Index steps = 4;
  static constexpr OperatorCase which{.medium = {.mode = Mode::em3d, .order = 4, .poles = 1}, .ratio = 1.7};

  /// Record, derivative and gradient of one operator, one after the other.
  static std::vector<std::vector<double>> all_of(Device on) {
    Operator waves = mixed_operator(which, steps, Precision::f64, on);
    const Problem& problem = waves.problem();
    const Shot shot = mixed_operator_shot(problem, steps);
    const std::vector<double> r = mixed_series(problem, shot.points.receivers, steps, 10);
    const GradientOf of{.mu_r = true, .sources = true};
    waves.prepare_gradient(of, plan_of(waves, of), TierBudgets::around(on, Budget(std::size_t{1} << 30U, "a test")));
    Index stepped = 0;
    std::vector<std::vector<double>> made{waves.forward(shot, [&] { ++stepped; })};
    EXPECT_EQ(stepped, waves.inner_steps());
    made.push_back(waves.born(shot, testing::mixed_change(problem, 8), {}));
    const ShotGradient found = waves.gradient(shot, [&](std::span<const double>, std::span<double> residual) {
      std::copy(r.begin(), r.end(), residual.begin());
      return 0.0;
    });
    made.push_back(found.sources);
    for (std::size_t c = 0; c < 3; ++c)
      for (const auto* part : {&found.medium.eps_r, &found.medium.sigma, &found.medium.mu_r})
        made.push_back((*part)[c]);
    return made;
  }
};

TEST_P(OperatorOnEachDevice, GivesWhatTheCpuGives) {
  const auto made = all_of(device()), wanted = all_of(Device::cpu());
  ASSERT_EQ(made.size(), wanted.size());
  for (std::size_t i = 0; i < made.size(); ++i) {
    SCOPED_TRACE(i);
    ASSERT_EQ(made[i].size(), wanted[i].size());
    double most = 0, apart = 0;
    for (std::size_t n = 0; n < made[i].size(); ++n) {
      most = std::max(most, std::abs(wanted[i][n]));
      apart = std::max(apart, std::abs(made[i][n] - wanted[i][n]));
    }
    EXPECT_LE(apart, 1e-12 * most);  // rounding of eight steps
  }
}

TEST_P(OperatorOnEachDevice, SaysWhatAGpuDoesNot) {
  if (device().is_cpu()) GTEST_SKIP() << "of a GPU";
  Operator waves = mixed_operator({}, steps, Precision::f32, device());
  const Shot shot = mixed_operator_shot(waves.problem(), steps);
  EXPECT_EQ(
      sonde::testing::error_of(ErrorKind::not_supported,
                               [&] { (void)waves.forward(shot, {}, {.energy = [](Index, const FieldEnergy&) {}}); }),
      "error: the energy of the fields is not measured on a GPU\nhint: run on the CPU");
  EXPECT_EQ(
      sonde::testing::error_of(ErrorKind::not_supported,
                               [&] { (void)waves.hessian_product(shot, {}, {}, {}, Operator::Hessian::gauss_newton); }),
      "error: products with a Hessian are not computed on a GPU\nhint: run on the CPU");
}

TEST_P(OperatorOnEachDevice, HoldsItsFieldsWhereItComputes) {
  const Operator waves = mixed_operator({}, steps, Precision::f32, device());
  const GradientOf of{};
  MemoryPlan host, there;
  waves.add_memory(host, 1, 1, &of);
  waves.add_device_memory(there, 1, 1, &of);
  const auto fields_in = [](const MemoryPlan& plan) {
    return std::any_of(plan.lines.begin(), plan.lines.end(),
                       [](const MemoryPlan::Line& line) { return line.what == "transposed fields and sums"; });
  };
  EXPECT_EQ(fields_in(host), device().is_cpu());
  EXPECT_TRUE(fields_in(there));
}

INSTANTIATE_EACH_DEVICE(OperatorOnEachDevice);

}  // namespace
}  // namespace sonde::maxwell
