// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sonde/instruments/maxwell/verify/checks.h"
#include "sonde/instruments/maxwell/verify/trial.h"

namespace sonde::maxwell {
namespace {

/// Largest difference over largest value of the two records of a pair of points.
double asymmetry(const Problem& problem, const Point& one, const Point& other, Index steps) {
  const Signal pulse = ricker_source(1 / (20 * problem.dt), steps, problem.dt);
  const Signal there = record(problem, {{one}, {other}}, pulse)[0];
  const Signal back = record(problem, {{other}, {one}}, pulse)[0];
  return largest_difference(there.samples, back.samples) / largest(there.samples);
}

}  // namespace

std::vector<VerifyRow> check_reciprocity(VerifySize size) {
  // What remains is rounding of some hundred steps.
  const Index steps = size == VerifySize::full ? 600 : 200;
  constexpr double limit = 1e-12;
  std::vector<VerifyRow> rows;
  for (const int order : {2, 4, 6, 8}) {
    const GridSpec flat{
        .cells = {40, 1, 50}, .spacing = {0.02, 1, 0.03}, .pml = {{{8, 6}, {}, {5, 0}}}, .order = order};
    const Problem line = mixed_ground_problem(flat, 0.05);
    rows.push_back({fmt::format("reciprocity.line_order_{}", order),
                    "Ey of a line source, largest difference over largest value",
                    asymmetry(line, point_at(line.grid, Component::Ey, {7, 0, 9}),
                              point_at(line.grid, Component::Ey, {31.3, 0, 40.6}), steps),
                    limit});
    const GridSpec solid{.mode = Mode::em3d,
                         .cells = {14, 12, 16},
                         .spacing = {0.02, 0.025, 0.03},
                         .pml = {{{5, 4}, {4, 0}, {3, 5}}},
                         .order = order};
    const Problem dipole = mixed_ground_problem(solid, 0.05);
    rows.push_back({fmt::format("reciprocity.dipole_order_{}", order),
                    "Ez of an x dipole and Ex of a z dipole, largest difference over largest value",
                    asymmetry(dipole, point_at(dipole.grid, Component::Ex, node_place(Component::Ex, {3, 2, 4})),
                              point_at(dipole.grid, Component::Ez, node_place(Component::Ez, {9, 8, 11})), steps),
                    limit});
  }
  return rows;
}

}  // namespace sonde::maxwell
