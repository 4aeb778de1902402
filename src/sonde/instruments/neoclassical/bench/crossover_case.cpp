// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "sonde/instruments/neoclassical/bench/prepare.h"
#include "sonde/instruments/neoclassical/bench/workload.h"

namespace sonde::neoclassical {
namespace {

/// One row of fields, and four.
constexpr Index point_counts[] = {8, 32};

Index angles_of(const std::string& size) { return whole_size(size, "points of each angle"); }

/// The median of an operation; nothing where the point did not run it.
std::optional<double> seconds_of(const Value& point, const std::string& operation) {
  for (const Value& each : point.find("operations")->items())
    if (text_at(each, "name") == operation) return number_at(*each.find("steady_s"), "median");
  return std::nullopt;
}

}  // namespace

PreparedCase prepare_crossover(const BenchPoint& point) {
  const Index angles = angles_of(point.size);
  const GridSpec grid{angles, angles, 16};
  PreparedCase prepared;
  prepared.input = fmt::format("{}x{}x16", angles, angles);
  for (const Index points : point_counts)  // the first of every device does the same work
    for (const ComputePath compute_path : all_compute_paths)
      if ((compute_path == ComputePath::gpu) != point.device.is_cpu())
        prepared.operations.push_back(path_operation(grid, points, compute_path, point.device));
  if (point.device.is_cpu())
    for (Operation& each : paths_of_one_point(grid)) prepared.operations.push_back(std::move(each));
  return prepared;
}

std::string keep_crossovers(const Value& points) {
  std::vector<MeasuredScan> map;
  const auto on_gpu = [&](const std::string& size, Index count) {
    std::optional<double> least;
    for (const Value& point : points.items())
      if (text_at(point, "size") == size)
        if (const auto took = seconds_of(point, path_operation_name(count, ComputePath::gpu)))
          least = std::min(least.value_or(*took), *took);
    return least;
  };
  for (const Value& point : points.items())
    for (const Index count : point_counts) {
      const auto f64 = seconds_of(point, path_operation_name(count, ComputePath::cpu_f64));
      if (!f64) continue;
      const std::string size = text_at(point, "size");
      const Index angles = angles_of(size);
      map.push_back({.unknowns = angles * angles,
                     .points = count,
                     .threads = static_cast<Index>(number_at(point, "workers")),
                     .seconds = {f64, seconds_of(point, path_operation_name(count, ComputePath::cpu_f32_refine)),
                                 on_gpu(size, count)}});
    }
  keep_crossover_map(map);
  return crossover_map_path();
}

}  // namespace sonde::neoclassical
