// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/tabulate/solved_equilibrium.h"

#include <fmt/format.h>

#include "sonde/engine/base/error.h"

namespace sonde::neoclassical {

std::unique_ptr<SurfaceSource> SolvedEquilibrium::at(double rho) const {
  if (!(rho > 0) || rho > 1)
    throw Error(ErrorKind::bad_input, fmt::format("rho = {}: expected a radius above 0, at most 1", rho));
  return std::make_unique<SolvedSurface>(Plan::prepare(equilibrium_.surface(rho * rho).surface, grid_, solver_),
                                         a_b_ / (2 * rho), how_);
}

}  // namespace sonde::neoclassical
