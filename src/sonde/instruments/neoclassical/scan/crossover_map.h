// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/base/choice.h"
#include "sonde/engine/base/index.h"
#include "sonde/engine/io/cache_file.h"

// Which way of solving many points takes the least time on this machine: measured by `sonde bench
// neoclassical-crossover`, kept in the user's cache folder, and read where precision or device is left to `auto`.

namespace sonde::neoclassical {

/// A way of solving the points of a scan.
enum class ComputePath { cpu_f64, cpu_f32_refine, gpu };
inline constexpr std::array all_compute_paths{ComputePath::cpu_f64, ComputePath::cpu_f32_refine, ComputePath::gpu};
/// "CPU, f64", "CPU, f32-refine", "GPU, f64".
[[nodiscard]] const char* name(ComputePath compute_path);

/// How long the same scan took along each compute path that was there.
struct MeasuredScan {
  Index unknowns = 0;  ///< N_theta N_zeta
  Index points = 0;
  Index threads = 1;  ///< of the compute paths of the CPU
  std::array<std::optional<double>, all_compute_paths.size()> seconds{};
  friend bool operator==(const MeasuredScan&, const MeasuredScan&) = default;
};

/// The fastest of the compute paths that are possible, by the measured scan that is nearest to this one (ratios of
/// unknowns, of points and of threads count alike). The first compute path is kept unless another takes a tenth less:
/// noise decides nothing. Throws Error(bad_input) without any compute path.
[[nodiscard]] Choice<ComputePath> fastest_path(std::span<const MeasuredScan> map, Index unknowns, Index points,
                                               Index threads, std::span<const ComputePath> possible);

[[nodiscard]] inline std::string crossover_map_path() { return cache_path("neoclassical-crossover.json"); }

/// What the file holds, or nothing with the reason in `note`, which is empty where there is no file. One that is
/// damaged or of another machine is no map: it is only a cache, and choices are then made by rule.
struct KeptMap {
  std::vector<MeasuredScan> scans;
  std::string note{};
};
[[nodiscard]] KeptMap kept_crossover_map(const std::string& path = crossover_map_path());

/// Writes it for this machine, atomically. Throws Error(io).
void keep_crossover_map(std::span<const MeasuredScan> map, const std::string& path = crossover_map_path());

}  // namespace sonde::neoclassical
