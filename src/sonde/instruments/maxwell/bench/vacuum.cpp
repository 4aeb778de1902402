// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/bench/vacuum.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/maxwell/grid/stability.h"

namespace sonde::maxwell {

Problem vacuum(Mode mode, int order, Index cells, Index layer) {
  if (cells < 2 * layer + 8)
    throw Error(ErrorKind::usage, fmt::format("{} cells along an axis: expected at least {}", cells, 2 * layer + 8));
  GridSpec spec;
  spec.mode = mode;
  spec.order = order;
  spec.spacing = {1e-3, 1e-3, 1e-3};
  for (const Axis axis : all_axes) {
    if (mode == Mode::tm2d && axis == Axis::y) continue;
    spec.cells[dimension(axis)] = cells - 2 * layer;
    spec.pml[dimension(axis)] = {layer, layer};
  }
  const Grid grid(spec);
  const auto count = static_cast<std::size_t>(grid.cells(Axis::z) * grid.cells(Axis::y) * grid.cells(Axis::x));
  Problem made{grid, locate({std::vector<double>(count, 1.0), std::vector<double>(count, 0.0)}, grid), {}, 0};
  made.dt = 0.99 * largest_time_step(grid, made.medium);
  made.pml = pml_profiles(grid, made.medium, gprmax_pml(), made.dt, 0);
  return made;
}

Acquisition one_source(const Problem& problem) {
  const auto third = [&](Axis axis) { return problem.grid.extent(axis) / 3; };
  const Point point{Component::Ey, {{problem.grid.index(third(Axis::z), third(Axis::y), third(Axis::x))}}};
  return {{point}, {point}};
}

double record_difference(std::span<const double> a, std::span<const double> b) {
  assert(a.size() == b.size());
  double largest = 0, apart = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(b[i]));
    apart = std::max(apart, std::abs(a[i] - b[i]));
  }
  return largest > 0 ? apart / largest : apart;
}

}  // namespace sonde::maxwell
