// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/run/run_plan.h"

#include <array>
#include <cmath>

#include "sonde/instruments/maxwell/grid/stability.h"

namespace sonde::maxwell {
namespace {

std::array<double, 3> diagonal(const Grid& grid) {
  std::array<double, 3> made{};
  double axes = 0;
  for (const Axis axis : all_axes) axes += grid.has(axis) ? 1 : 0;
  for (const Axis axis : all_axes) made[dimension(axis)] = grid.has(axis) ? 1 / std::sqrt(axes) : 0;
  return made;
}

}  // namespace

RunPlan plan_run(const Operator& waves, double highest_frequency) {
  const Grid& grid = waves.problem().grid;
  const double dt = waves.problem().dt;
  RunPlan plan{.ratio = waves.ratio(),
               .dt = dt,
               .highest_frequency = highest_frequency,
               .memory = {},
               .device_memory = {},
               .warnings = {}};
  plan.least_cells_per_wavelength = grid.order() == 2 ? 5 : 3;
  if (highest_frequency == 0) return plan;
  const double v = slowest_velocity(grid, waves.problem().medium, highest_frequency);
  plan.cells_per_wavelength = cells_per_wavelength(grid, v, highest_frequency);
  plan.velocity_along_axis = phase_velocity_ratio(grid, dt, v, highest_frequency, {0, 0, 1});
  plan.velocity_along_diagonal = phase_velocity_ratio(grid, dt, v, highest_frequency, diagonal(grid));
  return plan;
}

}  // namespace sonde::maxwell
