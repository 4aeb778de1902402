// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/engine/bench/case.h"

namespace sonde::neoclassical {

/// Every case of `sonde bench neoclassical`. Solves are those of the standard configuration of W7-X cut to six
/// harmonics, in double precision unless an operation says f32-refine. `flops` is what a path needs at least, so that
/// the rate is that of the elimination; `difference` is the largest relative departure of D11, D31, D13 and D33 from
/// the reference named below.
///   neoclassical-point           one solve with and without electric field, against the dense path
///   neoclassical-crossover       every path that can, over the angles of one grid, against the dense path, and scans
///   in
///                                both precisions and on a GPU, from which the map of `auto` is kept (crossover_map.h)
///   neoclassical-scaling-smoke   more and more points on 9x11x6, against the same solved one by one
///   neoclassical-scaling         the same on 17x25x16; 128 points are the scan that other programs publish
///   neoclassical-scaling-fine    the same on 25x25x60
///   neoclassical-strong-scaling  those 128 points with every number of workers
/// These four by threads of one process, by processes and by MPI ranks of one thread each (starting them counts); on a
/// GPU in batches.
///   neoclassical-reuse           a plan for every point, or one for all, on 9x11x6
///   neoclassical-precision       those 128 points in double precision and in refined single precision
///   neoclassical-database        rows of 12 fields of a database surface on 25x25x60, likewise; 16 are all of it
///   neoclassical-workflow        profiles of 51 radii from a database: load, fluxes, momentum correction, E_r
///   neoclassical-peers           the same points by MONKES, whose executable the user names
[[nodiscard]] std::vector<BenchCase> bench_cases();

}  // namespace sonde::neoclassical
