// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/run/gradient_run.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <filesystem>

#include "sonde/instruments/maxwell/read/experiment_draft.h"
#include "sonde/instruments/maxwell/read/test_gprmax.h"
#include "sonde/instruments/maxwell/run/experiment_run.h"
#include "sonde/instruments/maxwell/run/gprmax_gradient.h"
#include "sonde/instruments/maxwell/run/native_run.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::maxwell {
namespace {

/// Two shots over ground of two layers, places between nodes, in float64.
Experiment ground_experiment() {
  ExperimentDraft draft;
  draft.shape = {14, 18};
  draft.spacing = {0.05};
  std::vector<double> eps_r(14 * 18, 4.0);
  std::fill(eps_r.begin() + 7 * 18, eps_r.end(), 7.0);
  draft.eps_r = NumberArray{{14, 18}, eps_r};
  draft.sigma = NumberArray{{}, {0.005}};
  draft.pml = {5};
  draft.precision = Precision::f64;
  draft.steps = 90;
  draft.sources = NumberArray{{2, 2}, {3.5, 4, 9, 13.25}};
  draft.receivers = NumberArray{{3, 2}, {3.5, 12, 10, 5.25, 12, 9}};
  draft.wavelet = Wavelet{.name = "ricker", .frequency = 250e6};
  return experiment_of(draft, 1U << 30U);
}

/// 0.8 of what is recorded.
ObservedData weaker(const Experiment& experiment) {
  ObservedData data = NativeRun(experiment).run();
  for (double& sample : data.samples) sample *= 0.8;
  return data;
}

double misfit(const Experiment& experiment, const ObservedData& observed) {
  const ObservedData made = NativeRun(experiment).run();
  double sum = 0;
  for (std::size_t i = 0; i < made.samples.size(); ++i)
    sum += (made.samples[i] - observed.samples[i]) * (made.samples[i] - observed.samples[i]) / 2;
  return sum;
}

TEST(GradientRun, IsTheDerivativeOfTheMisfit) {
  const Experiment experiment = ground_experiment();
  const ObservedData observed = weaker(experiment);
  GradientRun gradient(experiment, observed, {.sources = true}, {}, TierBudgets::unlimited());
  const SurveyGradient made = gradient.run();
  EXPECT_NEAR(made.misfit, misfit(experiment, observed), 1e-12 * made.misfit);
  const auto slope = [&](const std::function<void(Experiment&, double)>& move, double h) {
    Experiment up = experiment, down = experiment;
    move(up, h);
    move(down, -h);
    return (misfit(up, observed) - misfit(down, observed)) / (2 * h);
  };
  // The error of central differences of these widths; the layers are made for each model anew, which moves them as
  // little as one cell of 18 moves a mean.
  for (const std::size_t cell : {std::size_t{100}, std::size_t{150}, std::size_t{77}}) {
    const double by_eps = slope([&](Experiment& e, double h) { e.model.eps_r[cell] += h; }, 1e-4);
    EXPECT_NEAR(made.model.eps_r[cell], by_eps, 1e-6 * std::abs(by_eps)) << cell;
    const double by_sigma = slope([&](Experiment& e, double h) { e.model.sigma[cell] += h; }, 1e-5);
    EXPECT_NEAR(made.model.sigma[cell], by_sigma, 1e-6 * std::abs(by_sigma)) << cell;
  }
  const double by_source = slope([&](Experiment& e, double h) { e.shots[1].amplitudes[20] += h; }, 1e-2);
  EXPECT_NEAR(made.sources[1][20], by_source, 1e-8 * std::abs(by_source));
}

TEST(GradientRun, OfPolesIsTheDerivativeOfTheMisfitWhereTheyHaveNoStrengthToo) {
  Experiment experiment = ground_experiment();
  const std::size_t count = experiment.model.eps_r.size();
  ModelPole pole{std::vector<double>(count, 2.0), std::vector<double>(count, 4e-10)};
  std::fill(pole.deps.begin(), pole.deps.begin() + static_cast<Index>(count / 2), 0.0);
  experiment.poles = {pole};
  const ObservedData observed = weaker(experiment);
  GradientRun gradient(experiment, observed, {.poles = true}, {}, TierBudgets::unlimited());
  const SurveyGradient made = gradient.run();
  for (const std::size_t cell : {std::size_t{100}, std::size_t{150}, std::size_t{77}}) {
    const auto slope = [&](std::vector<double> ModelPole::*part, double h) {
      Experiment up = experiment, down = experiment;
      (up.poles[0].*part)[cell] += h;
      (down.poles[0].*part)[cell] -= h;
      return (misfit(up, observed) - misfit(down, observed)) / (2 * h);
    };
    const double by_deps = slope(&ModelPole::deps, 1e-4), by_tau = slope(&ModelPole::tau, 1e-14);
    // The errors of central differences of these widths.
    EXPECT_NEAR(made.model.poles[0].deps[cell], by_deps, 1e-6 * std::abs(by_deps)) << cell;
    EXPECT_NEAR(made.model.poles[0].tau[cell], by_tau, 1e-5 * std::abs(by_tau)) << cell;
  }
}

TEST(GradientRun, IsTheTransposeOfTheLinearisedRun) {
  const Experiment experiment = ground_experiment();
  const ObservedData observed = weaker(experiment);
  GradientRun gradient(experiment, observed, {.sources = true}, {.mode = StorageMode::recompute},
                       TierBudgets::unlimited());
  const SurveyGradient made = gradient.run();
  NativeRun linearised(experiment, NativeRun::Kind::linearised);
  const ObservedData change = linearised.born({made.model, made.sources}, PaddingGradient::exact);
  // <J g, r> = <g, J' r> = |g|^2.
  const ObservedData record = NativeRun(experiment).run();
  double left = 0, right = 0;
  for (std::size_t i = 0; i < record.samples.size(); ++i)
    left += change.samples[i] * (record.samples[i] - observed.samples[i]);
  for (const auto* part : {&made.model.eps_r, &made.model.sigma, &made.sources[0], &made.sources[1]})
    for (const double value : *part) right += value * value;
  EXPECT_NEAR(left, right, 1e-12 * right);
}

/// A block in a half-space, 2D, with the layers inside.
constexpr const char* block_model =
    "#domain: 0.030 0.030 0.001\n#dx_dy_dz: 0.001 0.001 0.001\n#time_window: 160\n#pml_cells: 6 6 0 6 6 0\n"
    "#material: 4 0.01 1 0 soil\n#material: 9 0 1 0 block\n#box: 0 0 0 0.030 0.018 0.001 soil\n"
    "#box: 0.012 0.008 0 0.018 0.012 0.001 block\n#waveform: ricker 1 6e9 pulse\n"
    "#hertzian_dipole: z 0.010 0.020 0 pulse\n#rx: 0.020 0.020 0\n#rx: 0.015 0.009 0\n";

struct GprmaxCase {
  GprmaxInput input = testing::input_of(block_model);
  [[nodiscard]] GprmaxRun run(const std::function<void(GprmaxModel&)>& change = {}) const {
    GprmaxModel model = make_gprmax_model(input);
    // The layers as the unchanged model has them: they are no part of the derivative.
    if (change) change(model);
    return GprmaxRun(input, std::move(model), {.precision = Precision::f64});
  }
  [[nodiscard]] static GprmaxOutput weaker(GprmaxRun& run) {
    const GprmaxRecord record = run.run(0);
    GprmaxOutput made = empty_output(run.model(), record.acquisition);
    for (std::size_t r = 0; r < record.traces.size(); ++r)
      for (const GprmaxTrace& trace : record.traces[r]) {
        made.receivers[r].fields[trace.component] = trace.samples;
        for (double& sample : made.receivers[r].fields[trace.component]) sample *= 0.8;
      }
    return made;
  }
  [[nodiscard]] static double misfit(GprmaxRun run, const GprmaxOutput& observed) {
    const GprmaxRecord record = run.run(0);
    double sum = 0;
    for (std::size_t r = 0; r < record.traces.size(); ++r)
      for (const GprmaxTrace& trace : record.traces[r]) {
        const auto& there = observed.receivers[r].fields.at(trace.component);
        for (std::size_t n = 0; n < there.size(); ++n) sum += std::pow(trace.samples[n] - there[n], 2) / 2;
      }
    return sum;
  }
};

TEST(GradientRun, ThatIsKilledLeavesNoFile) {
  const sonde::testing::TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    const Experiment experiment = ground_experiment();
    Operator waves = make_operator(experiment, Threads::one);
    StorageRequest request = waves.storage_request({}, 0);
    request.host_bytes = request.disk_bytes = 1U << 30U;
    const Budget budget(request.host_bytes, "a test");
    waves.prepare_gradient({}, plan_storage(request, {.mode = StorageMode::disk}),
                           TierBudgets::around(Device::cpu(), budget, folder.path().string()));
    std::vector<std::string> warnings;
    const Shot shot = shot_on_grid(experiment.shots[0], waves.problem().grid, warnings);
    Index steps = 0;
    (void)waves.gradient(
        shot, [](std::span<const double>, std::span<double>) { return 0.0; },
        [&] {
          if (++steps == experiment.steps) raise(SIGKILL);
        });
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(GprmaxGradientOf, AModelIsTheDerivativeOfTheMisfitOfItsTraces) {
  const GprmaxCase model;
  GprmaxRun run = model.run();
  const GprmaxOutput observed = GprmaxCase::weaker(run);
  GprmaxGradientRun gradient(run, observed, "observed.out", {}, {}, TierBudgets::unlimited());
  const GprmaxGradient made = gradient.run();
  const Grid grid(run.model().grid);
  const Component c = *run.model().component(Component::Ez);
  const auto by = [&](Index x, Index y) {
    const auto zyx = run.model().axes.to_arrays(XyzIndex{x, y, 0});
    return static_cast<std::size_t>(grid.index(zyx[0], zyx[1], zyx[2]));
  };
  // In the ground: below 1 the vacuum would need a smaller step.
  for (const std::size_t node : {by(15, 10), by(12, 17), by(20, 16)}) {
    const auto moved = [&](double h) {
      return GprmaxCase::misfit(model.run([&](GprmaxModel& m) { m.medium.eps_r[place(c)][node] += h; }), observed);
    };
    const double slope = (moved(1e-4) - moved(-1e-4)) / 2e-4;
    // The error of a central difference of this width.
    EXPECT_NEAR(made.medium.eps_r[place(c)][node], slope, 1e-6 * std::abs(slope)) << node;
  }
}

TEST(GprmaxGradientOf, TracesOfAnotherLengthIsRefused) {
  const GprmaxCase model;
  GprmaxRun run = model.run();
  GprmaxOutput observed = GprmaxCase::weaker(run);
  observed.iterations = 100;
  EXPECT_EQ(sonde::testing::error_of(
                ErrorKind::bad_input,
                [&] { (void)GprmaxGradientRun(run, observed, "observed.out", {}, {}, TierBudgets::unlimited()); }),
            "error: observed.out: 100 iterations, the model has 160");
}

}  // namespace
}  // namespace sonde::maxwell
