// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include "sonde/engine/bench/case.h"
#include "sonde/instruments/neoclassical/solve/plan.h"

namespace sonde::neoclassical {

PreparedCase prepare_point(const BenchPoint& point);
PreparedCase prepare_crossover(const BenchPoint& point);

/// A scan of as many points as `size` says, on all of the point's threads.
PreparedCase prepare_scan(const BenchPoint& point, const GridSpec& grid);
PreparedCase prepare_reuse(const BenchPoint& point);
/// On 17x25x16, in double precision and in refined single precision.
PreparedCase prepare_precision(const BenchPoint& point);
PreparedCase prepare_database_rows(const BenchPoint& point);

PreparedCase prepare_workflow(const BenchPoint& point);
PreparedCase prepare_peers(const BenchPoint& point);

}  // namespace sonde::neoclassical
