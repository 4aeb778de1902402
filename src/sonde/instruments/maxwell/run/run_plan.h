// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/memory/memory_plan.h"
#include "sonde/instruments/maxwell/run/operator.h"
#include "sonde/instruments/maxwell/run/processes.h"

namespace sonde::maxwell {

/// What is known of the runs of a model before them: how they are sampled, and what they hold.
struct RunPlan {
  Index ratio = 1;               ///< inner steps per step of the file: higher orders have a lower stability limit
  double dt = 0;                 ///< s, of an inner step
  double highest_frequency = 0;  ///< Hz, of the sources, where their spectrum falls below -40 dB
  double cells_per_wavelength = 0;
  double least_cells_per_wavelength = 0;  ///< of its order (stability.h)
  /// Numerical over true phase velocity at that frequency in the slowest medium, along an axis and along the diagonal.
  double velocity_along_axis = 0, velocity_along_diagonal = 0;
  MemoryPlan memory, device_memory;  ///< of the host, and of a GPU where one computes
  std::vector<std::string> warnings;
  std::string parts{}, about_parts{};  ///< of a grid that several processes have: "2x1x1" along x, y, z
};

/// Steps and sampling; memory and warnings are left to the caller.
[[nodiscard]] RunPlan plan_run(const Operator& waves, double highest_frequency);

/// Leaves this process its part of the grid, where it is to be divided, and says so in the plan, whose sampling is that
/// of the whole.
void divide(Operator& waves, const Processes& processes, RunPlan& plan);

/// Bytes of a medium on a grid, float64: two numbers of each electric component and of each of its poles, one of a
/// magnetic one.
[[nodiscard]] std::size_t medium_bytes(const Grid& grid, std::size_t poles);
/// Adds the medium that a run holds, of a divided one that of its part. Returns what was in memory before it was
/// divided, with all that the plan has so far; 0 where it is not.
[[nodiscard]] std::size_t add_medium(const Operator& waves, MemoryPlan& memory);

}  // namespace sonde::maxwell
