// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/transport/solved_surface.h"

#include <fmt/format.h>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"

namespace sonde::neoclassical {

/// E_hat(psi) = E_hat(r) dr/dpsi, and D in psi per D in r by the same slope.
SurfaceDij SolvedSurface::solved(const Case& at, Plan::Workspace& workspace) const {
  SurfaceDij made;
  try {
    Coefficients found;
    if (how_.adapt) {
      const Adapted adapted = solve_adapted(plan_, at, *how_.adapt, workspace);
      found = adapted.coefficients;
      if (!adapted.converged)
        made.unsolved = fmt::format("nu_hat = {:.3g}: {} Legendre modes leave an error of {:.1e}", at.nu_hat,
                                    found.n_xi, adapted.error);
    } else {
      found = plan_.solve(at, workspace);
    }
    made.d = relabelled({found.D11, found.D31, found.D13, found.D33}, slope_);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::not_converged) throw;
    made.unsolved = fmt::format("nu_hat = {:.3g}: {}", at.nu_hat, error.message());
  }
  return made;
}

std::optional<double> SolvedSurface::u2() const {
  std::call_once(u2_asked_, [&] {
    // D11 = (2/3) nu_hat <U^2> + c/nu_hat + ..., c/nu_hat some (k/nu_hat)^2 of it with k of harmonics, at most 100/m.
    constexpr double often = 1e3, oftener = 2e3;
    Plan::Workspace workspace = plan_.workspace();
    const SurfaceDij one = solved({often, 0}, workspace), two = solved({oftener, 0}, workspace);
    if (one.unsolved.empty() && two.unsolved.empty()) u2_ = u2_between({often, one.d.D11}, {oftener, two.d.D11});
  });
  return u2_;
}

void SolvedSurface::coefficients(std::span<const double> nu_hat, std::span<const double> er_hat,
                                 std::span<SurfaceDij> made) const {
  PerWorker<Plan::Workspace> workspaces([&] { return plan_.workspace(); });
  parallel_for(static_cast<Index>(nu_hat.size()), 1, [&](Index first, Index last, Worker& worker) {
    for (Index i = first; i < last; ++i) {
      const auto at = static_cast<std::size_t>(i);
      made[at] = solved({nu_hat[at], er_hat[at] * slope_}, workspaces[worker]);
      if (how_.solved) how_.solved();
    }
  });
}

}  // namespace sonde::neoclassical
