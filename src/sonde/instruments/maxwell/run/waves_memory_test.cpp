// SPDX-License-Identifier: Apache-2.0
// Measured memory of an inversion's runs, in children so that nothing else counts.
#include <gtest/gtest.h>

#include <iostream>
#include <sstream>
#include <string>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/maxwell/run/experiment_waves.h"
#include "tests/support/child.h"
#include "tests/support/memory.h"

namespace sonde::maxwell {
namespace {

/// 500 x 500 cells with layers, 150 steps of float32, two shots.
Experiment wide_ground() {
  Experiment made;
  made.grid = {.mode = Mode::tm2d, .cells = {500, 1, 500}, .spacing = {0.05, 1, 0.05}, .order = 4};
  made.grid.pml = {{{10, 10}, {0, 0}, {10, 10}}};
  // Different in every cell, so that no two rows have the same factors.
  for (int i = 0; i < 500 * 500; ++i) made.model.eps_r.push_back(4 + 1e-6 * i), made.model.sigma.push_back(1e-9 * i);
  made.dominant_frequency = 40e6;
  made.dt = 0.9 * largest_time_step(made);
  made.steps = 150;
  for (const double x : {100.0, 300.0}) {
    SurveyShot& shot = made.shots.emplace_back();
    shot.sources = {{Component::Ey, {10, 0, x}}};
    shot.receivers = {{Component::Ey, {40, 0, x}}};
    shot.amplitudes.assign(150, 0);
    shot.amplitudes[0] = 1;
  }
  return made;
}

struct Held {
  double measured = 0, planned = 0;
};

enum class Work { none, gradient, products };

Held held_by(Work work) {
  std::istringstream found(sonde::testing::text_from_child([&] {
    set_thread_count(1);
    const Experiment experiment = wide_ground();
    std::size_t planned = 0;
    if (work != Work::none) {
      ExperimentWaves waves(experiment,
                            {.of = {.eps_r = true, .sigma = true},
                             .gauss_newton = work == Work::products,
                             .highest_frequency = 100e6,
                             .storage = {.mode = StorageMode::recompute, .bytes_limit_host = 16U << 20U},
                             .in_flight = 1},
                            TierBudgets::around(Device::cpu(), Budget(std::size_t{1} << 30U, "a test")));
      planned = waves.memory().peak_bytes;
      std::vector<ShotSignals> shots;
      for (Index s = 0; s < 2; ++s) shots.push_back({s, experiment.shots[static_cast<std::size_t>(s)].amplitudes});
      const MisfitGradient gradient = waves.gradient(
          experiment.model, shots,
          [](Index, const Gather& computed) {
            return RecordMisfit{0, 0, computed.samples};
          },
          Illumination::skipped);
      if (work == Work::products) {
        ModelChange change;
        change.eps_r.assign(experiment.model.eps_r.size(), 1);
        change.sigma.assign(experiment.model.eps_r.size(), 1e-3);
        (void)waves.gauss_newton(experiment.model, shots, change,
                                 [](Index, const Gather& computed) { return computed.samples; });
      }
    }
    std::ostringstream out;
    out << sonde::testing::peak_anonymous() << " " << planned;
    return out.str();
  }));
  Held made;
  EXPECT_TRUE(found >> made.measured >> made.planned) << found.str();
  return made;
}

class MemoryOfWaves : public ::testing::TestWithParam<Work> {};

TEST_P(MemoryOfWaves, IsWhatIsPlannedToATenth) {
  const Held without = held_by(Work::none), with = held_by(GetParam());
  const double more = with.measured - without.measured;
  std::cout << "planned " << with.planned / (1 << 20U) << " MiB, measured " << more / (1 << 20U) << " MiB\n";
  EXPECT_LE(more, 1.1 * with.planned);
  EXPECT_GE(more, 0.9 * with.planned);
}

INSTANTIATE_TEST_SUITE_P(Of, MemoryOfWaves, ::testing::Values(Work::gradient, Work::products), [](const auto& each) {
  return std::string(each.param == Work::gradient ? "AGradient" : "ProductsOfGaussAndNewton");
});

}  // namespace
}  // namespace sonde::maxwell
