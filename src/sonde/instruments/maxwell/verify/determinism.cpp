// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/maxwell/run/experiment_waves.h"
#include "sonde/instruments/maxwell/run/processes.h"
#include "sonde/instruments/maxwell/verify/checks.h"
#include "sonde/instruments/maxwell/verify/ground_trial.h"
#include "sonde/instruments/maxwell/verify/spectrum.h"
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
std::vector<double> all_of_ground(int threads, Index in_flight, const Ranks& ranks = Ranks::alone()) {
  const Threading threading(threads);
  const Experiment experiment = uneven_ground();
  ExperimentWaves waves(experiment, {.ranks = ranks, .in_flight = in_flight}, TierBudgets::unlimited());
  const MisfitGradient found =
      waves.gradient(experiment.model, signals_of(experiment), energy_of_record, Illumination::summed);
  std::vector<double> made{found.value};
  for (const auto* part :
       {&found.gradient.eps_r, &found.gradient.sigma, &found.illumination.eps_r, &found.illumination.sigma})
    made.insert(made.end(), part->begin(), part->end());
  return made;
}

/// The record and the gradient of random residuals in a cube; of a divided one the gradient is that of rank 0.
std::vector<double> all_of_cube(int threads, Index side, const Processes& processes = {}) {
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
  if (processes.parts) waves.divide(*processes.parts, processes.ranks);
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

/// As many parts as ranks, on all axes as equally as their number allows.
Triple parts_for(int ranks) {
  Triple made{1, 1, 1};
  std::size_t axis = 0;
  for (int factor = 2; ranks > 1; ++factor)
    for (; ranks % factor == 0; ranks /= factor) made[axis++ % 3] *= factor;
  return made;
}

/// Largest difference over the largest value of the first ones, which are of the record, and of the others.
double apart(const std::vector<double>& made, const std::vector<double>& wanted, std::size_t of_record) {
  double worst = 0;
  for (const auto& [first, last] : {std::pair(std::size_t{0}, of_record), std::pair(of_record, wanted.size())}) {
    const std::span<const double> a = std::span(made).subspan(first, last - first),
                                  b = std::span(wanted).subspan(first, last - first);
    worst = std::max(worst, largest_difference(a, b) / largest(b));
  }
  return worst;
}

}  // namespace

std::vector<VerifyRow> check_ranks(VerifySize size) {
  const Ranks ranks = Ranks::world();
  const int threads = thread_count();
  const Triple parts = parts_for(ranks.size());
  // Each part has more than its layers.
  const Index side = std::max<Index>(size == VerifySize::full ? 60 : 24, 8 * *std::ranges::max_element(parts));
  const std::string count = fmt::format("{} process{}", ranks.size(), ranks.size() == 1 ? "" : "es");
  const Index different = different_bits(all_of_ground(threads, 1), all_of_ground(threads, 1, ranks));
  const std::vector<double> whole = all_of_cube(threads, side), divided = all_of_cube(threads, side, {ranks, parts});
  // Two receivers of 40 samples. Only rank 0 has a gradient to compare.
  const double difference = ranks.rank() == 0 ? apart(divided, whole, 80) : 0;
  return {{"ranks.shots", "numbers with other bits than those of one process, shots shared by " + count,
           static_cast<double>(different), 0},
          // Sums over nodes of two parts are rounded in another order.
          {"ranks.grid",
           fmt::format("record and gradient of a cube in {}x{}x{} parts of {} against the whole one", parts[2],
                       parts[1], parts[0], count),
           difference, 1e-6}};
}

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
