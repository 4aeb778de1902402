// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/run/experiment_waves.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/maxwell/invert/inversion.h"
#include "sonde/instruments/maxwell/signal/wavelet.h"
#include "tests/support/devices.h"

namespace sonde::maxwell {
namespace {

constexpr Index side = 24, wave_steps = 90;
constexpr double spacing = 0.05, dt = 8e-11;

/// Three shots over uneven ground, each with five receivers.
Experiment three_shots(Precision precision, Index steps = wave_steps) {
  Experiment made;
  made.grid = {.mode = Mode::tm2d, .cells = {side, 1, side}, .spacing = {spacing, 1, spacing}, .order = 4};
  made.grid.pml = {{{6, 6}, {0, 0}, {6, 6}}};
  for (Index i = 0; i < side * side; ++i) {
    made.model.eps_r.push_back(4 + 0.5 * std::sin(static_cast<double>(i) / 11));
    made.model.sigma.push_back(2e-3);
  }
  made.dt = dt;
  made.steps = steps;
  made.dominant_frequency = 2e8;
  made.precision = precision;
  const std::vector<double> signal = sampled(Wavelet{.frequency = 2e8}, steps, dt, 0.5);
  for (int s = 0; s < 3; ++s) {
    SurveyShot& shot = made.shots.emplace_back();
    shot.sources = {{Component::Ey, {4.0 + 6 * s, 0, 3}}};
    for (int r = 0; r < 5; ++r) shot.receivers.push_back({Component::Ey, {3.0 + 4.5 * r, 0, 20}});
    shot.amplitudes = signal;
  }
  return made;
}

std::vector<ShotSignals> all_signals(const Experiment& experiment) {
  std::vector<ShotSignals> made;
  for (std::size_t s = 0; s < experiment.shots.size(); ++s)
    made.push_back({static_cast<Index>(s), experiment.shots[s].amplitudes});
  return made;
}

/// 1/2 |record|^2.
RecordMisfit energy_misfit(Index, const Gather& computed) {
  RecordMisfit made{.residual = computed.samples};
  for (const double each : computed.samples) made.value += each * each / 2;
  made.squares = 2 * made.value;
  return made;
}

class WavesOfAnExperiment : public ::testing::Test {
 protected:
  WavesOfAnExperiment() { set_thread_count(3); }
  ~WavesOfAnExperiment() override { set_thread_count(before_); }

 private:
  int before_ = thread_count();
};

TEST_F(WavesOfAnExperiment, HaveTheGradientOfTheirMisfit) {
  const Experiment experiment = three_shots(Precision::f64);
  ExperimentWaves waves(experiment, {.least_eps_r = 3}, TierBudgets::unlimited());
  const auto signals = all_signals(experiment);
  const MisfitGradient found = waves.gradient(experiment.model, signals, energy_misfit, Illumination::skipped);
  const auto value_at = [&](std::size_t cell, double deps, double dsigma) {
    Model model = experiment.model;
    model.eps_r[cell] += deps;
    model.sigma[cell] += dsigma;
    double sum = 0;
    waves.record(model, signals,
                 [&](Index shot, const Gather& computed) { sum += energy_misfit(shot, computed).value; });
    return sum;
  };
  // A cell inside, one in a corner that the layers repeat, and one at a source.
  for (const std::size_t cell : {std::size_t{290}, std::size_t{0}, std::size_t{4 * side + 3}}) {
    const double by_eps = (value_at(cell, 1e-4, 0) - value_at(cell, -1e-4, 0)) / 2e-4;
    const double by_sigma = (value_at(cell, 0, 1e-6) - value_at(cell, 0, -1e-6)) / 2e-6;
    // The error of a central difference of this width.
    EXPECT_NEAR(found.gradient.eps_r[cell], by_eps, 1e-6 * std::abs(by_eps) + 1e-12 * found.value);
    EXPECT_NEAR(found.gradient.sigma[cell], by_sigma, 1e-6 * std::abs(by_sigma) + 1e-9 * found.value);
  }
}

TEST_F(WavesOfAnExperiment, HaveASymmetricProductOfGaussAndNewton) {
  const Experiment experiment = three_shots(Precision::f64);
  ExperimentWaves waves(experiment, {}, TierBudgets::unlimited());
  const auto change = [&](double phase) {
    ModelChange made;
    for (std::size_t i = 0; i < experiment.model.eps_r.size(); ++i) {
      made.eps_r.push_back(std::sin(phase * static_cast<double>(i)));
      made.sigma.push_back(1e-2 * std::cos(phase * static_cast<double>(i)));
    }
    return made;
  };
  const auto product = [&](const ModelChange& of) {
    return waves.gauss_newton(experiment.model, all_signals(experiment), of,
                              [](Index, const Gather& records) { return records.samples; });
  };
  const auto dot = [](const ModelChange& a, const ModelChange& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.eps_r.size(); ++i) sum += a.eps_r[i] * b.eps_r[i] + a.sigma[i] * b.sigma[i];
    return sum;
  };
  const ModelChange a = change(0.3), b = change(0.7), of_a = product(a), of_b = product(b);
  EXPECT_GT(dot(a, of_a), 0);
  // Rounding.
  EXPECT_NEAR(dot(b, of_a), dot(a, of_b), 1e-12 * std::sqrt(dot(a, of_a) * dot(b, of_b)));
}

TEST_F(WavesOfAnExperiment, SayThatAnUnstableModelHasNoMisfit) {
  const Experiment experiment = three_shots(Precision::f32);
  ExperimentWaves waves(experiment, {}, TierBudgets::unlimited());
  Model fast = experiment.model;
  fast.eps_r.assign(fast.eps_r.size(), 0.2);
  EXPECT_TRUE(std::isnan(waves.gradient(fast, all_signals(experiment), energy_misfit, Illumination::skipped).value));
}

TEST_F(WavesOfAnExperiment, AreStrongestAtTheSources) {
  const Experiment experiment = three_shots(Precision::f32);
  ExperimentWaves waves(experiment, {.in_flight = 1}, TierBudgets::unlimited());
  const MisfitGradient found =
      waves.gradient(experiment.model, all_signals(experiment), energy_misfit, Illumination::summed);
  for (const std::vector<double>* lit : {&found.illumination.eps_r, &found.illumination.sigma}) {
    const auto strongest = std::ranges::max_element(*lit) - lit->begin();
    EXPECT_EQ(strongest % side, 3);
    EXPECT_EQ((strongest / side - 4) % 6, 0);
  }
}

class WavesOnEachDevice : public sonde::testing::EachDevice {};
class WavesOnEachGpu : public sonde::testing::EachDevice {};

TEST_P(WavesOnEachDevice, HaveTheGradientOfTheCpu) {
  const Experiment experiment = three_shots(Precision::f64, 12);
  const auto gradient_on = [&](Device on) {
    ExperimentWaves waves(experiment, {.in_flight = 1, .device = on},
                          TierBudgets::around(on, Budget(1U << 28U, "a test")));
    EXPECT_EQ(waves.storage().mode, on.is_cpu() ? StorageMode::host : StorageMode::device);
    EXPECT_EQ(waves.device_memory().peak_bytes > 0, !on.is_cpu());
    return waves.gradient(experiment.model, all_signals(experiment), energy_misfit, Illumination::summed);
  };
  const MisfitGradient made = gradient_on(device()), wanted = gradient_on(Device::cpu());
  EXPECT_NEAR(made.value, wanted.value, 1e-12 * wanted.value);  // rounding of twelve steps, as below
  double most = 0, apart = 0;
  for (std::size_t i = 0; i < wanted.gradient.eps_r.size(); ++i) {
    most = std::max(most, std::abs(wanted.gradient.eps_r[i]));
    apart = std::max(apart, std::abs(made.gradient.eps_r[i] - wanted.gradient.eps_r[i]));
  }
  EXPECT_LT(apart, 1e-12 * most);
}

TEST_P(WavesOnEachDevice, HaveTheSameBitsHoweverManyShotsRunAtTheSameTime) {
  const Experiment experiment = three_shots(Precision::f32, 12);
  const auto gradient_with = [&](Index in_flight) {
    ExperimentWaves waves(experiment, {.in_flight = in_flight, .device = device()},
                          TierBudgets::around(device(), Budget(1U << 28U, "a test")));
    return waves.gradient(experiment.model, all_signals(experiment), energy_misfit, Illumination::summed);
  };
  // On a GPU two and then the third; the CPU may have one thread only.
  const MisfitGradient made = gradient_with(2), wanted = gradient_with(1);
  EXPECT_EQ(made.value, wanted.value);
  EXPECT_EQ(made.gradient.eps_r, wanted.gradient.eps_r);
  EXPECT_EQ(made.gradient.sigma, wanted.gradient.sigma);
  EXPECT_EQ(made.illumination.eps_r, wanted.illumination.eps_r);
  EXPECT_EQ(made.illumination.sigma, wanted.illumination.sigma);
}

TEST_P(WavesOnEachGpu, RunAsManyShotsAtTheSameTimeAsItHasMemoryFor) {
  const Experiment experiment = three_shots(Precision::f32, 12);
  const auto waves_within = [&](std::size_t bytes) {
    return ExperimentWaves(experiment, {.device = device()}, TierBudgets::around(device(), Budget(bytes, "a test")));
  };
  const ExperimentWaves all = waves_within(1U << 28U);
  EXPECT_EQ(all.in_flight().value, 3);
  EXPECT_EQ(all.in_flight().because, "the GPU has memory for them");
  const ExperimentWaves two = waves_within(all.device_memory().peak_bytes - 1);
  EXPECT_EQ(two.in_flight().value, 2);
  EXPECT_LE(two.device_memory().peak_bytes, all.device_memory().peak_bytes);
  const ExperimentWaves one = waves_within(two.device_memory().peak_bytes - 1);
  EXPECT_EQ(one.in_flight().value, 1);
  EXPECT_EQ(one.in_flight().because, "the GPU has memory for one shot only");
}

/// Two shots over ten by ten cells, whose records come within forty steps.
Experiment two_small_shots() {
  Experiment made = three_shots(Precision::f32, 40);
  made.grid.cells = {10, 1, 10};
  made.grid.pml = {{{4, 4}, {0, 0}, {4, 4}}};
  made.model = {std::vector<double>(100, 4), std::vector<double>(100, 2e-3)};
  made.shots.resize(2);
  for (std::size_t s = 0; s < 2; ++s) {
    made.shots[s].sources = {{Component::Ey, {2, 0, 2.0 + 5 * static_cast<double>(s)}}};
    made.shots[s].receivers = {{Component::Ey, {7, 0, 2}}, {Component::Ey, {7, 0, 5}}, {Component::Ey, {7, 0, 8}}};
    made.shots[s].amplitudes = sampled(Wavelet{.frequency = 6e8}, made.steps, dt, 0.5);
  }
  return made;
}

TEST_P(WavesOnEachDevice, AreInvertedAsOnTheCpu) {
  const Experiment experiment = two_small_shots();
  Measurements measured;
  for (const SurveyShot& shot : experiment.shots) measured.amplitudes.push_back(shot.amplitudes);
  Model truth = experiment.model;
  for (const std::size_t cell : {44U, 45U, 54U, 55U}) truth.eps_r[cell] = 5;
  ExperimentWaves({experiment}, {.least_eps_r = 2, .in_flight = 1}, TierBudgets::unlimited())
      .record(truth, all_signals(experiment),
              [&](Index, const Gather& computed) { measured.shots.push_back({computed}); });
  const auto history_on = [&](Device on) {
    ExperimentWaves waves(experiment, {.least_eps_r = 2, .device = on},
                          TierBudgets::around(on, Budget(1U << 28U, "a test")));
    Inversion inversion(waves, measured, Parameters(waves.grid(), {.eps_r_bounds = {2, 9}}, experiment.model, {}),
                        {.stages = {{.iterations = 2}}, .illumination_damping = 0.05});
    inversion.run();
    std::vector<double> made;
    for (const InversionRow& row : inversion.history()) made.push_back(row.misfit);
    return made;
  };
  const std::vector<double> made = history_on(device()), wanted = history_on(Device::cpu());
  ASSERT_EQ(made.size(), wanted.size());
  EXPECT_LT(wanted.back(), wanted.front() / 2);
  // Rounding of float32 over forty steps, of differences of records that are a tenth of them.
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(made[i], wanted[i], 1e-4 * wanted.front());
}

INSTANTIATE_EACH_DEVICE(WavesOnEachDevice);
INSTANTIATE_EACH_GPU(WavesOnEachGpu);

}  // namespace
}  // namespace sonde::maxwell
