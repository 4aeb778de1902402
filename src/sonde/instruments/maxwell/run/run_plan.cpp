// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/run/run_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sonde/engine/base/text.h"
#include "sonde/instruments/maxwell/grid/stability.h"
#include "sonde/instruments/maxwell/propagate/grid_part.h"

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
  plan.least_cells_per_wavelength = least_cells_per_wavelength(grid.order());
  if (highest_frequency == 0) return plan;
  const double v = slowest_velocity(grid, waves.problem().medium, highest_frequency);
  plan.cells_per_wavelength = cells_per_wavelength(grid, v, highest_frequency);
  plan.velocity_along_axis = phase_velocity_ratio(grid, dt, v, highest_frequency, {0, 0, 1});
  plan.velocity_along_diagonal = phase_velocity_ratio(grid, dt, v, highest_frequency, diagonal(grid));
  return plan;
}

void divide(Operator& waves, const Processes& processes, RunPlan& plan) {
  if (!processes.parts) return;
  const Triple& parts = *processes.parts;
  waves.divide(parts, processes.ranks);
  const GridPart& part = *waves.problem().part;
  plan.parts = fmt::format("{}x{}x{}", parts[2], parts[1], parts[0]);
  plan.about_parts = fmt::format(
      "of {} cells along x, y, z, a process each; E of {} beside each face comes from the neighbour, at most {} "
      "sent by a process in a step",
      waves.grid().count(), part.halo() == 1 ? "the plane" : fmt::format("{} planes", part.halo()),
      format_bytes(static_cast<double>(static_cast<std::size_t>(part.halo_elements()) *
                                       element_bytes(waves.settings().precision))));
}

std::size_t medium_bytes(const Grid& grid, std::size_t poles) {
  std::size_t arrays = 0;
  for (const Component c : grid.components()) arrays += is_electric(c) ? 2 + 2 * poles : 1;
  return arrays * sizeof(double) * static_cast<std::size_t>(grid.count());
}

std::size_t add_medium(const Operator& waves, MemoryPlan& memory) {
  const Problem& problem = waves.problem();
  const std::size_t poles = problem.medium.poles.size(), whole = medium_bytes(waves.grid(), poles);
  std::size_t held = whole;
  if (problem.part) {
    held = 0;
    for (const GridPart::Piece& each : problem.part->pieces()) held = std::max(held, medium_bytes(each.grid, poles));
  }
  memory.lasting_bytes +=
      memory.add("medium", held, fmt::format("{} components, float64", problem.grid.components().size()));
  memory.peak_bytes += held;
  return problem.part ? memory.peak_bytes + memory.add("whole medium", whole, "before it is divided") : 0;
}

}  // namespace sonde::maxwell
