// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/run/operator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sonde/instruments/maxwell/grid/stability.h"
#include "sonde/instruments/maxwell/propagate/test_problem.h"
#include "tests/support/devices.h"
#include "tests/support/errors.h"

// That derivatives are right is shown by the checks of verify.
namespace sonde::maxwell {
namespace {

using testing::MixedCase;

/// `ratio`: inner steps in one of the survey.
struct OperatorCase {
  MixedCase medium{};
  double ratio = 0.9;
};

Operator mixed_operator(const OperatorCase& which, Index steps, Precision precision, Device device = Device::cpu()) {
  Problem problem = testing::mixed_problem(which.medium);
  const double dt = which.ratio * largest_time_step(problem.grid, problem.medium);
  return Operator(std::move(problem), {}, 1 / (20 * dt),
                  {.dt = dt, .steps = steps, .precision = precision, .device = device});
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

StoragePlan plan_of(const Operator& waves, const GradientOf& of) {
  StorageRequest request = waves.storage_request(of, 0);
  request.host_bytes = 1U << 30U;
  if (!waves.settings().device.is_cpu()) request.device_bytes = 1U << 30U;
  return plan_storage(request, {});
}

/// The steps [first, last) of series [point][step].
std::vector<double> steps_of(const std::vector<double>& series, std::size_t points, Index first, Index last) {
  const Index steps = std::ssize(series) / static_cast<Index>(points);
  std::vector<double> made;
  for (Index p = 0; p < static_cast<Index>(points); ++p)
    made.insert(made.end(), series.begin() + p * steps + first, series.begin() + p * steps + last);
  return made;
}

/// A part of a run, and its gradient of <record, residual>.
struct RunPart {
  Operator waves;
  Shot shot;
  std::vector<double> residual;
  GradientOf of{.mu_r = true, .sources = true, .start = true};

  RunPart(const OperatorCase& which, Index steps, Index first, Index last)
      : waves(mixed_operator(which, last - first, Precision::f64)), shot(mixed_operator_shot(waves.problem(), steps)) {
    const std::vector<Point>& receivers = shot.points.receivers;
    residual = steps_of(mixed_series(waves.problem(), receivers, steps, 10), receivers.size(), first, last);
    shot.amplitudes = steps_of(shot.amplitudes, shot.points.sources.size(), first, last);
    of.poles = which.medium.poles > 0;
    waves.prepare_gradient(of, plan_of(waves, of), TierBudgets::unlimited());
  }
  [[nodiscard]] State last_fields() {
    State made;
    (void)waves.forward(shot, {}, {.look = [&](Index step, LiveFields& fields) {
                          if (step == waves.settings().steps) made = fields.state();
                        }});
    return made;
  }
  [[nodiscard]] ShotGradient gradient(const Watch& watch = {}) {
    return waves.gradient(
        shot,
        [&](std::span<const double>, std::span<double> to) {
          std::copy(residual.begin(), residual.end(), to.begin());
          return 0.0;
        },
        {}, watch);
  }
};

class JoinedRuns : public ::testing::TestWithParam<OperatorCase> {};

TEST_P(JoinedRuns, HaveTheGradientOfOne) {
  constexpr Index steps = 20, joint = 8;
  RunPart whole(GetParam(), steps, 0, steps), early(GetParam(), steps, 0, joint), late(GetParam(), steps, joint, steps);
  late.shot.start = std::make_shared<State>(early.last_fields());
  const ShotGradient wanted = whole.gradient(), of_late = late.gradient();
  early.shot.end = std::make_shared<State>(of_late.start);
  const ShotGradient of_early = early.gradient();
  const auto expect_sum = [](const std::vector<double>& a, const std::vector<double>& b,
                             const std::vector<double>& sum) {
    double most = 0, apart = 0;
    for (std::size_t i = 0; i < sum.size(); ++i) {
      most = std::max(most, std::abs(sum[i]));
      apart = std::max(apart, std::abs(a[i] + (b.empty() ? 0 : b[i]) - sum[i]));
    }
    EXPECT_LE(apart, 1e-12 * most);  // rounding of what is converted at the joint
  };
  for (std::size_t c = 0; c < 3; ++c) {
    expect_sum(of_early.medium.eps_r[c], of_late.medium.eps_r[c], wanted.medium.eps_r[c]);
    expect_sum(of_early.medium.sigma[c], of_late.medium.sigma[c], wanted.medium.sigma[c]);
    expect_sum(of_early.medium.mu_r[c], of_late.medium.mu_r[c], wanted.medium.mu_r[c]);
    for (std::size_t p = 0; p < wanted.medium.poles.size(); ++p) {
      expect_sum(of_early.medium.poles[p].deps[c], of_late.medium.poles[p].deps[c], wanted.medium.poles[p].deps[c]);
      expect_sum(of_early.medium.poles[p].tau[c], of_late.medium.poles[p].tau[c], wanted.medium.poles[p].tau[c]);
    }
  }
  for (std::size_t c = 0; c < 6; ++c) expect_sum(of_early.start.fields[c], {}, wanted.start.fields[c]);
  const std::size_t sources = whole.shot.points.sources.size();
  expect_sum(of_early.sources, {}, steps_of(wanted.sources, sources, 0, joint));
  expect_sum(of_late.sources, {}, steps_of(wanted.sources, sources, joint, steps));
}

INSTANTIATE_TEST_SUITE_P(Cases, JoinedRuns,
                         ::testing::Values(OperatorCase{{.order = 4}}, OperatorCase{{.order = 2, .poles = 2}},
                                           OperatorCase{{.mode = Mode::em3d, .order = 6}},
                                           OperatorCase{{.mode = Mode::em3d, .order = 2, .poles = 1}}),
                         [](const auto& each) { return testing::text_of(each.param.medium); });

TEST(SweepBackwards, IsShownAtStepsOfTheSurveyWithItsGradient) {
  RunPart part({.medium = {.order = 4}, .ratio = 1.7}, 6, 0, 6);
  ASSERT_EQ(part.waves.ratio(), 2);
  std::vector<Index> steps;
  ComponentChange last;
  double before_first = 0;
  const Index node = part.waves.problem().grid.index(6, 0, 7);
  const ShotGradient made = part.gradient({.look_back = [&](Index step, LiveFields& fields, const auto& gradient) {
    steps.push_back(step);
    if (step > 0) return;
    last = gradient();
    before_first =
        fields.view(Component::Ey, Part::padded, [](const auto& e) { return static_cast<double>(e(6, 0, 7)); });
  }});
  EXPECT_EQ(steps, (std::vector<Index>{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(last.eps_r, made.medium.eps_r);
  EXPECT_EQ(last.mu_r, made.medium.mu_r);
  // cb times the derivative by E before the first step.
  const Problem& problem = part.waves.problem();
  const double cb =
      coefficients(problem.medium, problem.grid, problem.dt, problem.loss).cb[1][static_cast<std::size_t>(node)];
  EXPECT_DOUBLE_EQ(before_first / cb, made.start.fields[1][static_cast<std::size_t>(node)]);
}

TEST(SweepBackwards, CannotBeEdited) {
  RunPart part({}, 2, 0, 2);
  EXPECT_EQ(sonde::testing::error_of(ErrorKind::not_supported,
                                     [&] {
                                       (void)part.gradient({.look_back = [](Index, LiveFields& fields, const auto&) {
                                         fields.edit(Component::Ey, Part::model, [](const auto&) {});
                                       }});
                                     }),
            "error: the fields of a sweep backwards cannot be changed");
}

TEST(HessianOfExponentialLoss, IsRefused) {
  Operator waves = mixed_operator({.medium = {.loss = LossForm::exponential}}, 4, Precision::f64);
  const Shot shot = mixed_operator_shot(waves.problem(), 4);
  EXPECT_EQ(sonde::testing::error_of(ErrorKind::not_supported,
                                     [&] { (void)waves.hessian_product(shot, {}, {}, {}, Operator::Hessian::full); }),
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
  Operator waves = mixed_operator({}, steps, Precision::f32, device());
  const Shot shot = mixed_operator_shot(waves.problem(), steps);
  if (device().is_cpu()) {
    Index measured = 0;
    (void)waves.forward(shot, {}, {.energy = [&](Index, const FieldEnergy&) { ++measured; }});
    EXPECT_EQ(measured, steps);
    return;
  }
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
