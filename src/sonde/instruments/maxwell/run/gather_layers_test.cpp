// SPDX-License-Identifier: Apache-2.0
// Layers of a gather that the solver has made of known ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sonde/instruments/maxwell/field/moveout.h"
#include "sonde/instruments/maxwell/grid/constants.h"
#include "sonde/instruments/maxwell/run/experiment_waves.h"
#include "sonde/instruments/maxwell/signal/wavelet.h"

namespace sonde::maxwell {
namespace {

/// A line source of 100 MHz at the top of 3 m of eps_r 9 over 2.5 m of eps_r 16 over eps_r 30, and 56 receivers beside.
FieldLine gather_over_two_layers() {
  constexpr Index depth = 160, length = 300, first = 12;
  constexpr double cell = 0.04, step = 0.2e-9, frequency = 1e8;
  Experiment experiment;
  experiment.grid = {.mode = Mode::tm2d, .cells = {depth, 1, length}, .spacing = {cell, 1, cell}, .order = 4};
  experiment.grid.pml = {{{10, 10}, {0, 0}, {10, 10}}};
  for (Index k = 0; k < depth; ++k) {
    const double z = (static_cast<double>(k) + 0.5) * cell;
    experiment.model.eps_r.insert(experiment.model.eps_r.end(), length, z < 3 ? 9 : z < 5.5 ? 16 : 30);
  }
  experiment.model.sigma.assign(experiment.model.eps_r.size(), 0);
  experiment.dt = step;
  experiment.steps = 1000;
  experiment.dominant_frequency = frequency;
  SurveyShot& shot = experiment.shots.emplace_back();
  shot.sources = {{Component::Ey, {0, 0, first}}};
  FieldLine made{.samples = experiment.steps, .dt = step, .nominal_frequency = frequency};
  for (Index x = first + 10; x < length; x += 5) {
    shot.receivers.push_back({Component::Ey, {0, 0, static_cast<double>(x)}});
    made.positions.push_back(static_cast<double>(x - first) * cell);
  }
  made.traces = std::ssize(made.positions);
  shot.amplitudes = sampled(Wavelet{.frequency = frequency}, experiment.steps, step, 0.5);
  ExperimentWaves waves(experiment, {}, TierBudgets::unlimited());
  waves.record(experiment.model, std::vector<ShotSignals>{{0, shot.amplitudes}}, [&](Index, const Gather& records) {
    made.values.assign(records.samples.begin(), records.samples.end());
  });
  return made;
}

TEST(LayersOfAGather, AreThoseOfTheModel) {
  const FieldLine gather = gather_over_two_layers();
  const DirectWave direct = direct_wave(gather);
  EXPECT_NEAR(direct.velocity, c0 / 3, 0.02 * c0 / 3);
  const std::vector<Reflection> found = reflections(gather, direct.centre, {.latest = 150e-9});
  ASSERT_EQ(found.size(), 2U);
  const LayerFit fit = fit_layers(gather, direct.centre, found);
  EXPECT_LT(fit.after, fit.before);
  // As of pulses placed by hand (moveout_test), and the tails that pulses of line sources have.
  EXPECT_NEAR(fit.layers[0].velocity, c0 / 3, 0.05 * c0 / 3);
  EXPECT_NEAR(fit.layers[0].thickness, 3, 0.05 * 3);
  EXPECT_NEAR(fit.layers[1].velocity, c0 / 4, 0.08 * c0 / 4);
  EXPECT_NEAR(fit.layers[1].thickness, 2.5, 0.08 * 2.5);
}

}  // namespace
}  // namespace sonde::maxwell
