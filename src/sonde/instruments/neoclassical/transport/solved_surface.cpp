// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/transport/solved_surface.h"

#include "sonde/engine/device/parallel.h"

namespace sonde::neoclassical {

void SolvedSurface::coefficients(std::span<const double> nu_hat, std::span<const double> er_hat,
                                 std::span<SurfaceDij> made) const {
  PerWorker<Plan::Workspace> workspaces([&] { return plan_.workspace(); });
  parallel_for(static_cast<Index>(nu_hat.size()), 1, [&](Index first, Index last, Worker& worker) {
    for (Index i = first; i < last; ++i) {
      const auto at = static_cast<std::size_t>(i);
      // E_hat(psi) = E_hat(r) dr/dpsi, and D in psi per D in r by the same slope.
      const Coefficients solved = plan_.solve({nu_hat[at], er_hat[at] * slope_}, workspaces[worker]);
      made[at] = {relabelled({solved.D11, solved.D31, solved.D13, solved.D33}, slope_), false};
    }
  });
}

}  // namespace sonde::neoclassical
