// SPDX-License-Identifier: Apache-2.0
// Private to the room: a scan by several processes of this program.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/bench/case.h"
#include "sonde/instruments/neoclassical/solve/plan.h"

namespace sonde::neoclassical {

/// The scan of bench_surface() over all pairs of these, by programs that are started for it and end with its file:
///   "processes"  so many of `sonde neoclassical scan`, each with its share of the collisionalities
///   "MPI"        the same number of ranks of one, where mpirun is found
/// Starting them counts. `difference` receives the coefficients, [nu][field].
[[nodiscard]] std::vector<Operation> process_scans(
    const GridSpec& grid, std::vector<double> nu_hat, std::vector<double> epsi_hat, int workers,
    const std::function<double(std::span<const Coefficients>)>& difference);

}  // namespace sonde::neoclassical
