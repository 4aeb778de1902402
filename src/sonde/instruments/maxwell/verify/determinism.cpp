// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/maxwell/run/experiment_waves.h"
#include "sonde/instruments/maxwell/verify/checks.h"
#include "sonde/instruments/maxwell/verify/ground_trial.h"
#include "sonde/instruments/maxwell/verify/trial.h"
#include "sonde/instruments/maxwell/verify/wave_trial.h"

namespace sonde::maxwell {
namespace {

/// As many threads while it lives.
class Threading {
 public:
  explicit Threading(int threads) { set_thread_count(threads); }
  ~Threading() { set_thread_count(before_); }
  Threading(const Threading&) = delete;
  Threading& operator=(const Threading&) = delete;

 private:
  int before_ = thread_count();
};

/// Misfit, gradient and energy of three shots in one list.
std::vector<double> all_of_ground(int threads, Index in_flight) {
  const Threading threading(threads);
  const Experiment experiment = uneven_ground();
  ExperimentWaves waves(experiment, {.in_flight = in_flight}, TierBudgets::unlimited());
  const MisfitGradient found =
      waves.gradient(experiment.model, signals_of(experiment), energy_of_record, Illumination::summed);
  std::vector<double> made{found.value};
  for (const auto* part :
       {&found.gradient.eps_r, &found.gradient.sigma, &found.illumination.eps_r, &found.illumination.sigma})
    made.insert(made.end(), part->begin(), part->end());
  return made;
}

/// The record and the gradient of random residuals in a cube.
std::vector<double> all_of_cube(int threads, Index side) {
  const Threading threading(threads);
  const GridSpec spec{.mode = Mode::em3d,
                      .cells = {side, side, side},
                      .spacing = {0.02, 0.025, 0.03},
                      .pml = {{{6, 6}, {6, 0}, {6, 6}}},
                      .order = 4};
  Problem problem = mixed_ground_problem(spec, 0.05);
  constexpr Index steps = 40;
  const double dt = problem.dt;
  const double middle = static_cast<double>(side) / 2;
  Shot shot{{{point_at(problem.grid, Component::Ex, {middle, middle, middle})},
             {point_at(problem.grid, Component::Ez, {middle - 3, middle + 2, middle - 2.5}),
              point_at(problem.grid, Component::Hy, {middle + 2, middle, middle + 3})}},
            ricker_source(1 / (20 * dt), steps, dt, Component::Ex).samples};
  Operator waves(std::move(problem), {.dt = dt, .steps = steps});
  const GradientOf of{.mu_r = true, .sources = true};
  prepare(waves, of, {});
  std::vector<double> made;
  const ShotGradient found = waves.gradient(shot, [&](std::span<const double> record, std::span<double> residual) {
    made.assign(record.begin(), record.end());
    std::ranges::copy(record, residual.begin());
    return 0.0;
  });
  for (const auto* group : {&found.medium.eps_r, &found.medium.sigma, &found.medium.mu_r})
    for (const std::vector<double>& part : *group) made.insert(made.end(), part.begin(), part.end());
  made.insert(made.end(), found.sources.begin(), found.sources.end());
  return made;
}

}  // namespace

std::vector<VerifyRow> check_determinism(VerifySize size) {
  std::vector<VerifyRow> rows;
  const auto add = [&](std::string id, const std::string& what, Index different) {
    rows.push_back({"determinism." + std::move(id), "numbers with other bits than those of one thread, " + what,
                    static_cast<double>(different), 0});
  };
  const Index side = size == VerifySize::full ? 60 : 24;
  const std::vector<double> ground = all_of_ground(1, 1), cube = all_of_cube(1, side);
  for (const int threads : {2, 3}) {
    add(fmt::format("2d_{}_threads", threads), fmt::format("{} threads on each shot", threads),
        different_bits(ground, all_of_ground(threads, 1)));
    add(fmt::format("3d_{}_threads", threads), fmt::format("{} threads on a cube", threads),
        different_bits(cube, all_of_cube(threads, side)));
  }
  add("shots_in_flight", "three shots at the same time", different_bits(ground, all_of_ground(3, 3)));
  return rows;
}

}  // namespace sonde::maxwell
