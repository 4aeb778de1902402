// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/bench/case.h"
#include "sonde/instruments/neoclassical/scan/crossover_map.h"
#include "sonde/instruments/neoclassical/solve/plan.h"

namespace sonde::neoclassical {

PreparedCase prepare_point(const BenchPoint& point);
/// One case along every path that can.
std::vector<Operation> paths_of_one_point(const GridSpec& grid);

/// On the CPU one case along every path, and on every device whole scans along every compute path.
PreparedCase prepare_crossover(const BenchPoint& point);
/// Keeps the map of the scans among what has been measured (crossover_map.h); returns its path.
std::string keep_crossovers(const Value& points);

/// A scan of as many points as `size` says, on all of the point's threads.
PreparedCase prepare_scan(const BenchPoint& point, const GridSpec& grid);
/// One along a compute path, and what it is called.
Operation path_operation(const GridSpec& grid, Index points, ComputePath compute_path, Device device);
std::string path_operation_name(Index points, ComputePath compute_path);
PreparedCase prepare_reuse(const BenchPoint& point);
/// On 17x25x16, in double precision and in refined single precision.
PreparedCase prepare_precision(const BenchPoint& point);
PreparedCase prepare_database_rows(const BenchPoint& point);

PreparedCase prepare_workflow(const BenchPoint& point);
PreparedCase prepare_peers(const BenchPoint& point);

}  // namespace sonde::neoclassical
