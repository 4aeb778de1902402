// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/maxwell/grid/constants.h"
#include "sonde/instruments/maxwell/propagate/propagator.h"
#include "sonde/instruments/maxwell/verify/checks.h"
#include "sonde/instruments/maxwell/verify/trial.h"

namespace sonde::maxwell {
namespace {

// 15 cells per wavelength at the centre frequency, the medium of wet sand.
constexpr Ground sand{9, 0};
constexpr double sand_spacing = 0.01, sand_f0 = c0 / 3 / (15 * sand_spacing);
constexpr double sand_cells_per_second = c0 / 3 / sand_spacing;

/// A source and a receiver in a rectangle with layers on all sides, in cells.
struct Box {
  Index depth, length;
  Triple source, receiver;
};

Signal record_in(const Box& box, Index width, int order, double window_cells) {
  GridSpec spec{.cells = {box.depth, 1, box.length},
                .spacing = {sand_spacing, 1, sand_spacing},
                .pml = {{{width, width}, {}, {width, width}}},
                .order = order};
  const Problem problem = uniform_problem(spec, sand, 0.9, sand_f0);
  const Acquisition shot{{point_at(problem.grid, Component::Ey, node_place(Component::Ey, box.source))},
                         {point_at(problem.grid, Component::Ey, node_place(Component::Ey, box.receiver))}};
  const auto steps = static_cast<Index>(window_cells / sand_cells_per_second / problem.dt);
  return record(problem, shot, ricker_source(sand_f0, steps, problem.dt))[0];
}

/// Largest difference to the record in a box that is larger by `more` cells on every side, over the largest value, dB.
double reflected(const Box& box, Index width, int order, double window_cells, Index more) {
  Box larger{box.depth + 2 * more, box.length + 2 * more, box.source, box.receiver};
  for (Triple* at : {&larger.source, &larger.receiver}) (*at)[0] += more, (*at)[2] += more;
  const Signal made = record_in(box, width, order, window_cells);
  const Signal wanted = record_in(larger, width, order, window_cells);
  return decibel(largest_difference(made.samples, wanted.samples) / largest(wanted.samples));
}

std::vector<VerifyRow> reflection_rows(VerifySize size) {
  // What the layer itself leaves near normal incidence, exp(-1.6 width) (Roden and Gedney 2000), is far below what its
  // grid reflects. Seen in this way the profiles of TIDE and gprMax reflect -56 and -90 dB at 10 cells, and at grazing
  // incidence -58 and -49 dB: 1e-3 and 1e-4 of the amplitude are asked for, and no less than gprMax's along a side.
  std::vector<VerifyRow> rows;
  // Everything that comes back from a side within 150 cells of travel, of which the wavelet takes 36.
  const Box centre{60, 60, {30, 0, 30}, {30, 0, 45}};
  const auto orders = size == VerifySize::full ? std::vector<int>{2, 4, 6, 8} : std::vector<int>{4};
  for (const int order : orders)
    for (const auto& [width, limit] : {std::pair<Index, double>{10, -60}, {20, -80}})
      rows.push_back({fmt::format("absorption.normal_{}_order_{}", width, order),
                      fmt::format("reflection of {} cells near normal incidence, order {}, dB", width, order),
                      reflected(centre, width, order, 150, 60), limit});
  const Box side{100, 260, {5, 0, 15}, {5, 0, 165}};
  rows.push_back({"absorption.grazing",
                  "reflection of 10 cells at grazing incidence, source and receiver 5 cells from a side and 150 apart, "
                  "order 4, dB",
                  reflected(side, 10, 4, 250, 120), -50});
  return rows;
}

/// A case of a run that is long.
struct LongRun {
  Mode mode;
  int order;
  double sigma;
  bool in_float32;
};

/// Of a run: the largest energy, the largest in its second half, and the last one.
struct Energies {
  double most = 0, late = 0, last = 0;
};

template <class T>
Energies energies(const Problem& problem, const Point& source, const Signal& pulse, Index steps) {
  Propagator<T> propagator(problem);
  std::vector<double> amplitudes = pulse.samples;
  amplitudes.resize(static_cast<std::size_t>(steps));
  Energies seen;
  const auto watch = [&](Index n, const Propagator<T>& fields) {
    // Every tenth of the first steps, which have the pulse, and later less often, so that it costs little.
    if ((n + 1) % (n < 1000 ? 10 : 200) != 0 && n + 1 != steps) return;
    const State state = fields.state();
    seen.last = leapfrog_energy(problem, state, state);
    seen.most = std::max(seen.most, seen.last);
    if (n >= steps / 2) seen.late = std::max(seen.late, seen.last);
  };
  propagator.run({{source}, {}}, steps, amplitudes, {}, {.after = watch});
  return seen;
}

Energies energies_of(const LongRun& which, const GridSpec& spec, double courant, Index steps) {
  const Problem problem = uniform_problem(spec, {sand.eps_r, which.sigma}, courant, sand_f0);
  const Component c = which.mode == Mode::tm2d ? Component::Ey : Component::Ez;
  const Point source =
      point_at(problem.grid, c, node_place(c, {spec.cells[0] / 2, spec.cells[1] / 2, spec.cells[2] / 2}));
  Signal pulse = ricker_source(sand_f0, static_cast<Index>(2.4 / sand_f0 / problem.dt), problem.dt);
  // A dipole keeps the charge that its current has moved, and the energy of that: none in all.
  const double mean =
      std::accumulate(pulse.samples.begin(), pulse.samples.end(), 0.0) / static_cast<double>(pulse.samples.size());
  for (double& sample : pulse.samples) sample -= mean;
  return which.in_float32 ? energies<float>(problem, source, pulse, steps)
                          : energies<double>(problem, source, pulse, steps);
}

/// Energy after twenty times the time across the box, over the largest.
VerifyRow decay_row(bool in_float32) {
  constexpr Index cells = 60;
  GridSpec spec{.cells = {cells, 1, cells},
                .spacing = {sand_spacing, 1, sand_spacing},
                .pml = {{{10, 10}, {}, {10, 10}}},
                .order = 4};
  const double dt = uniform_problem(spec, sand, 0.9).dt;
  const auto steps = static_cast<Index>((20 * cells / sand_cells_per_second + 2.4 / sand_f0) / dt);
  const Energies seen = energies_of({Mode::tm2d, 4, 0, in_float32}, spec, 0.9, steps);
  const char* type = in_float32 ? "float32" : "float64";
  // Twenty passages through layers at -60 dB leave nothing; what decays slowly are the long waves, to some 1e-12.
  return {fmt::format("absorption.decay_{}", type),
          fmt::format("energy after 20 transit times over the largest, {}", type), seen.last / seen.most, 1e-10};
}

/// Largest energy in the second half of a run over the largest of all.
VerifyRow growth_row(const LongRun& which, Index steps) {
  const bool flat = which.mode == Mode::tm2d;
  GridSpec spec{.mode = which.mode,
                .cells = flat ? Triple{20, 1, 20} : Triple{8, 8, 8},
                .spacing = {sand_spacing, sand_spacing, sand_spacing},
                .pml = flat ? std::array<std::array<Index, 2>, 3>{{{10, 10}, {}, {10, 10}}}
                            : std::array<std::array<Index, 2>, 3>{{{8, 8}, {8, 8}, {8, 8}}},
                .order = which.order};
  const Energies seen = energies_of(which, spec, 0.99, steps);
  const char* type = which.in_float32 ? "float32" : "float64";
  // Long after twenty transits: what is above their limit has grown. Float32 keeps a static H of its rounding, 1e-14.
  return {
      fmt::format("absorption.growth_{}d_order_{}_{}_{}", flat ? 2 : 3, which.order,
                  which.sigma > 0 ? "lossy" : "lossless", type),
      fmt::format("largest energy in the second half of {} steps over the largest, 0.99 of the largest step", steps),
      std::isfinite(seen.last) ? seen.late / seen.most : seen.last, 1e-10};
}

std::vector<VerifyRow> growth_rows(VerifySize size) {
  std::vector<std::pair<LongRun, Index>> runs;
  const bool full = size == VerifySize::full;
  for (const int order : {2, 4, 6, 8})
    for (const double sigma : {0.0, 5e-3})
      for (const bool in_float32 : {false, true}) {
        // Quick: the type that people use, and the medium that takes nothing itself.
        if (!full && (!in_float32 || sigma > 0)) continue;
        runs.push_back({{Mode::tm2d, order, sigma, in_float32}, full ? 200000 : 10000});
        if (full || order == 2 || order == 8)
          runs.push_back({{Mode::em3d, order, sigma, in_float32}, full ? 20000 : 1000});
      }
  std::vector<VerifyRow> rows(runs.size());
  parallel_for(static_cast<Index>(runs.size()), 1, [&](Index first, Index last, Worker&) {
    for (Index i = first; i < last; ++i) {
      const auto& [which, steps] = runs[static_cast<std::size_t>(i)];
      rows[static_cast<std::size_t>(i)] = growth_row(which, steps);
    }
  });
  return rows;
}

}  // namespace

std::vector<VerifyRow> check_absorption(VerifySize size) {
  std::vector<VerifyRow> rows = reflection_rows(size);
  for (const bool in_float32 : {false, true}) rows.push_back(decay_row(in_float32));
  std::ranges::move(growth_rows(size), std::back_inserter(rows));
  return rows;
}

}  // namespace sonde::maxwell
