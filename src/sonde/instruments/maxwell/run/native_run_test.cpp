// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/run/native_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sonde/instruments/maxwell/grid/constants.h"
#include "sonde/instruments/maxwell/read/experiment_draft.h"

namespace sonde::maxwell {
namespace {

/// 24 x 30 cells of 5 cm, half of them wet; sources at two places, receivers at both.
ExperimentDraft two_ends() {
  ExperimentDraft draft;
  draft.shape = {24, 30};
  draft.spacing = {0.05};
  std::vector<double> eps_r(720, 4.0);
  std::fill(eps_r.begin() + 360, eps_r.end(), 9.0);
  draft.eps_r = NumberArray{{24, 30}, eps_r};
  draft.sigma = NumberArray{{}, {0.005}};
  draft.pml = {6};
  draft.precision = Precision::f64;
  draft.steps = 200;
  draft.sources = NumberArray{{2, 2}, {5.5, 4, 17, 21.25}};
  draft.receivers = NumberArray{{2, 2}, {5.5, 4, 17, 21.25}};
  draft.wavelet = Wavelet{.name = "ricker", .frequency = 150e6};
  return draft;
}

struct Recorded {
  ObservedData data;
  [[nodiscard]] double at(Index step, Index shot, Index receiver) const {
    return data.samples[static_cast<std::size_t>((step * 2 + shot) * 2 + receiver)];
  }
  [[nodiscard]] double largest() const {
    double most = 0;
    for (Index n = 0; n < data.steps; ++n) most = std::max(most, std::abs(at(n, 0, 1)));
    return most;
  }
};
Recorded recorded(const ExperimentDraft& draft) { return {NativeRun(experiment_of(draft, 1U << 30U)).run()}; }

TEST(NativeRun, SwappedEndsRecordTheSame) {
  const Recorded made = recorded(two_ends());
  ASSERT_GT(made.largest(), 0);
  for (Index n = 0; n < 200; ++n)  // rounding of 200 steps
    ASSERT_NEAR(made.at(n, 0, 1), made.at(n, 1, 0), 1e-12 * made.largest()) << n;
}

TEST(NativeRun, NothingArrivesBeforeLight) {
  const Recorded made = recorded(two_ends());
  const double distance = 0.05 * std::hypot(11.5, 17.25);
  const double arrival = distance * 2 / c0;                              // eps_r 4 is the faster half
  const auto before = static_cast<Index>(0.7 * arrival / made.data.dt);  // taps of places between nodes reach 4 cells
  for (Index n = 0; n < before; ++n) ASSERT_LT(std::abs(made.at(n, 0, 1)), 1e-3 * made.largest()) << n;
}

TEST(NativeRun, ASmallerStepOfTheRunKeepsTheRecords) {
  ExperimentDraft draft = two_ends();
  draft.wavelet->delay = 2 / draft.wavelet->frequency;  // begins at zero, so that both series have one band
  const Experiment fine = experiment_of(draft, 1U << 30U);
  draft.dt = 3 * fine.dt;
  draft.steps = 66;
  NativeRun coarse(experiment_of(draft, 1U << 30U));
  EXPECT_EQ(coarse.plan().ratio, 3);
  const Recorded a = recorded([&] {
    ExperimentDraft same = two_ends();
    same.wavelet = draft.wavelet;
    return same;
  }());
  const Recorded b{coarse.run()};
  // Samples of E are at (n + 1) dt: sample n of the coarse series is sample 3 n + 2 of the fine one. What is left is
  // the end of the series, which the transform takes for periodic.
  for (Index n = 5; n < 50; ++n) ASSERT_NEAR(b.at(n, 0, 1), a.at(3 * n + 2, 0, 1), 5e-3 * a.largest()) << n;
}

TEST(NativeRun, PlansWhatItSamples) {
  const NativeRun run(experiment_of(two_ends(), 1U << 30U));
  EXPECT_EQ(run.cells(), 36 * 42);
  EXPECT_EQ(run.steps(), 200);
  // 2.76 f0 of a Ricker wavelet in eps_r = 9.
  EXPECT_NEAR(run.plan().cells_per_wavelength, c0 / 3 / (2.76 * 150e6) / 0.05, 0.1);  // the spectrum's own steps
  EXPECT_GT(run.plan().memory.peak_bytes, experiment_bytes(run.experiment()));
}

TEST(NativeRun, WarnsOnceOfPlacesAtTheEndOfTheGrid) {
  ExperimentDraft draft = two_ends();
  draft.pml = {0};
  draft.receivers->values[0] = 1.5;
  const NativeRun run(experiment_of(draft, 1U << 30U));
  ASSERT_EQ(run.plan().warnings.size(), 1U);
  EXPECT_EQ(run.plan().warnings[0].substr(0, 49), "receiver 0 is so near the end of the grid that 2 ");
}

}  // namespace
}  // namespace sonde::maxwell
