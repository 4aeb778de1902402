// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/verify/wave_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>

#include "sonde/engine/math/random.h"
#include "sonde/instruments/maxwell/grid/constants.h"
#include "sonde/instruments/maxwell/grid/stability.h"
#include "sonde/instruments/maxwell/verify/trial.h"

namespace sonde::maxwell {
namespace {

Operator trial_operator(const WaveCase& which, Precision precision) {
  Problem problem = trial_problem(which);
  const double dt = which.ratio * largest_time_step(problem.grid, problem.medium);
  return Operator(std::move(problem), {}, 1 / (20 * dt),
                  {.dt = dt, .steps = trial_steps, .corrected = which.corrected, .precision = precision});
}

void add_to_end(std::vector<double>& all, const std::vector<double>& part) {
  all.insert(all.end(), part.begin(), part.end());
}

void add(std::vector<double>& to, double h, const std::vector<double>& change) {
  for (std::size_t i = 0; i < change.size(); ++i) to[i] += h * change[i];
}

GradientOf by_all(const WaveCase& which) {
  return {.mu_r = true, .sources = true, .poles = which.poles > 0, .padding = which.padding};
}

}  // namespace

Problem trial_problem(const WaveCase& which) {
  const bool flat = which.mode == Mode::tm2d;
  GridSpec spec{.mode = which.mode,
                .cells = flat ? Triple{13, 1, 11} : Triple{8, 8, 9},
                .spacing = {0.02, 0.025, 0.03},
                .pml = {{{3, 0}, {flat ? 0 : 2, flat ? 0 : 3}, {4, 2}}},
                .order = which.order};
  Problem problem = mixed_ground_problem(spec, 0.05, which.poles);
  problem.loss = which.loss;
  return problem;
}

std::vector<double> random_amplitudes(const Grid& grid, const std::vector<Point>& sources, unsigned seed) {
  Random random(seed);
  std::vector<double> made;
  for (const Point& source : sources)
    for (const double each : random_between(random, trial_steps, -1, 1))
      made.push_back(each * grid.cell_volume() * (is_electric(source.component) ? 1 : eta0));
  return made;
}

Shot trial_shot(const Grid& grid) {
  Random random(3);
  const auto point = [&](Component c) {
    Place place{};
    for (const Axis axis : all_axes)
      if (grid.has(axis))
        place[dimension(axis)] =
            1 + random.uniform() * static_cast<double>(grid.extent(axis) - 2) - static_cast<double>(grid.low(axis));
    return point_at(grid, c, place);
  };
  Shot made;
  for (const Component c : grid.components()) {
    made.points.sources.push_back(point(c));
    Point& receiver = made.points.receivers.emplace_back(point(c));
    // eta0 H, or errors of its records would be lost beside those of E.
    if (!is_electric(c))
      for (PointTap& tap : receiver.taps) tap.weight *= eta0;
  }
  made.amplitudes = random_amplitudes(grid, made.points.sources, 4);
  return made;
}

std::string id_of(const WaveCase& which) {
  std::string made = fmt::format("{}d_order_{}", which.mode == Mode::tm2d ? 2 : 3, which.order);
  if (which.ratio > 1) made += "_substeps";
  if (which.corrected) made += "_corrected";
  if (which.padding == PaddingGradient::frozen) made += "_frozen";
  if (which.loss == LossForm::exponential) made += "_exponential";
  if (which.poles > 0) made += "_debye";
  return made;
}

std::vector<WaveCase> wave_cases(VerifySize size) {
  constexpr auto frozen = PaddingGradient::frozen;
  if (size == VerifySize::quick)
    return {{},
            {.order = 4, .corrected = true},
            {.order = 4, .loss = LossForm::exponential},
            {.order = 6, .ratio = 1.7, .corrected = true, .padding = frozen},
            {.order = 8, .ratio = 2.7},
            {.ratio = 1.9, .poles = 2},
            {.mode = Mode::em3d, .ratio = 1.8},
            {.mode = Mode::em3d, .order = 4, .padding = frozen},
            {.mode = Mode::em3d, .order = 6, .poles = 1},
            {.mode = Mode::em3d, .order = 8, .corrected = true}};
  std::vector<WaveCase> made;
  for (const Mode mode : {Mode::tm2d, Mode::em3d})
    for (const int order : {2, 4, 6, 8})
      for (const PaddingGradient padding : {PaddingGradient::exact, frozen}) {
        const WaveCase plain{.mode = mode, .order = order, .padding = padding};
        WaveCase between = plain, exponential = plain, debye = plain;
        between.ratio = 1.7;
        between.corrected = true;
        exponential.loss = LossForm::exponential;
        debye.poles = 2;
        made.insert(made.end(), {plain, between, exponential, debye});
      }
  return made;
}

double dot(const Direction& a, const Direction& b) {
  double sum = 0;
  for (std::size_t kind = 0; kind < a.size(); ++kind) sum += dot(a[kind], b[kind]);
  return sum;
}

double relative_difference(const Direction& a, const Direction& b) {
  double worst = 0;
  for (std::size_t kind = 0; kind < a.size(); ++kind)
    if (!a[kind].empty()) worst = std::max(worst, largest_difference(a[kind], b[kind]) / largest(a[kind]));
  return worst;
}

Index different_bits(std::span<const double> a, std::span<const double> b) {
  assert(a.size() == b.size());
  Index count = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::bit_cast<std::uint64_t>(a[i]) != std::bit_cast<std::uint64_t>(b[i])) ++count;
  return count;
}

void prepare(Operator& waves, const GradientOf& of, const StorageSettings& storage, double highest_frequency) {
  StorageRequest request = waves.storage_request(of, highest_frequency);
  constexpr std::size_t plenty = std::size_t{1} << 30U;
  request.host_bytes = request.disk_bytes = plenty;
  waves.prepare_gradient(of, plan_storage(request, storage),
                         TierBudgets::around(Device::cpu(), Budget(plenty, "the checks")));
}

WaveTrial::WaveTrial(const WaveCase& which, Precision precision, const StorageSettings& storage)
    : padding_(which.padding),
      waves_(trial_operator(which, precision)),
      medium_(waves_.problem().medium),
      shot_(trial_shot(waves_.problem().grid)),
      amplitudes_(shot_.amplitudes) {
  prepare(waves_, by_all(which), storage);
}

Direction WaveTrial::direction(unsigned seed) const {
  const Grid& grid = waves_.problem().grid;
  const Index count = grid.cells(Axis::z) * grid.cells(Axis::y) * grid.cells(Axis::x);
  Random random(seed);
  Direction made{random_between(random, count, -1, 1), random_between(random, count, -0.05, 0.05),
                 random_between(random, count, -1, 1), random_amplitudes(grid, shot_.points.sources, seed + 1)};
  const Index of_poles = std::ssize(medium_.poles) * count;
  made[4] = random_between(random, of_poles, -1, 1);
  made[5] = random_between(random, of_poles, -waves_.problem().dt, waves_.problem().dt);
  return made;
}

std::vector<double> WaveTrial::residual(unsigned seed) const {
  Random random(seed);
  return random_between(random, static_cast<Index>(shot_.points.receivers.size()) * trial_steps, -1, 1);
}

void WaveTrial::move(const Direction& v, double h) {
  const ComponentChange change = located(v);
  ComponentMedium medium = medium_;
  for (std::size_t c = 0; c < 3; ++c) {
    add(medium.eps_r[c], h, change.eps_r[c]);
    add(medium.sigma[c], h, change.sigma[c]);
    add(medium.mu_r[c], h, change.mu_r[c]);
    for (std::size_t p = 0; p < change.poles.size(); ++p) {
      add(medium.poles[p].deps[c], h, change.poles[p].deps[c]);
      add(medium.poles[p].tau[c], h, change.poles[p].tau[c]);
    }
  }
  waves_.set_medium(std::move(medium));
  shot_.amplitudes = amplitudes_;
  add(shot_.amplitudes, h, v[3]);
}

std::vector<double> WaveTrial::record() { return waves_.forward(shot_); }

std::vector<double> WaveTrial::record_change(const Direction& v) { return waves_.born(shot_, located(v), v[3]); }

Direction WaveTrial::transposed(const std::vector<double>& r) {
  const auto loss = [&](std::span<const double>, std::span<double> residual) {
    std::ranges::copy(r, residual.begin());
    return 0.0;
  };
  return gradient(loss).by;
}

WaveTrial::Gradient WaveTrial::gradient(const Operator::Loss& loss) {
  const ShotGradient found = waves_.gradient(shot_, loss);
  return {found.value, gathered(found)};
}

Direction WaveTrial::product(const Direction& v, const Operator::SecondLoss& loss, Operator::Hessian which) {
  return gathered(waves_.hessian_product(shot_, located(v), v[3], loss, which));
}

ComponentChange WaveTrial::located(const Direction& v) const {
  ModelChange change{v[0], v[1], v[2]};
  const auto count = static_cast<Index>(v[0].size());
  for (Index p = 0; p < std::ssize(medium_.poles); ++p) {
    const auto part = [&](std::size_t kind) {
      return std::vector<double>(v[kind].begin() + p * count, v[kind].begin() + (p + 1) * count);
    };
    change.poles.push_back({part(4), part(5)});
  }
  return locate_change(change, MaterialLocation::cell, padding_, waves_.problem().grid);
}

Direction WaveTrial::gathered(const ShotGradient& found) const {
  ModelChange made = gather_change(found.medium, MaterialLocation::cell, padding_, waves_.problem().grid);
  Direction all{std::move(made.eps_r), std::move(made.sigma), std::move(made.mu_r), found.sources};
  for (const ModelPole& pole : made.poles) {
    add_to_end(all[4], pole.deps);
    add_to_end(all[5], pole.tau);
  }
  return all;
}

}  // namespace sonde::maxwell
