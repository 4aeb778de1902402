// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "sonde/instruments/neoclassical/scan/convergence.h"
#include "sonde/instruments/neoclassical/solve/plan.h"
#include "sonde/instruments/neoclassical/transport/surface_source.h"

namespace sonde::neoclassical {

/// How points are solved on demand.
struct DirectSolves {
  std::optional<LegendreSearch> adapt{};  ///< Legendre modes for each point instead of those of the plan
  std::function<void()> solved{};         ///< called at every point; thread-safe
};

/// Coefficients solved at the very points that are asked for: no table, no interpolation.
class SolvedSurface : public SurfaceSource {
 public:
  /// `plan` in a label psi (s, for files of equilibria), `slope` = dr/dpsi.
  SolvedSurface(Plan plan, double slope, DirectSolves how = {})
      : plan_(std::move(plan)), slope_(slope), how_(std::move(how)) {}

  [[nodiscard]] double reference_field() const override { return plan_.surface().reference_field; }
  [[nodiscard]] double b2_ratio() const override {
    return plan_.surface().b2_mean / (reference_field() * reference_field());
  }

  [[nodiscard]] bool even_in_field() const override { return plan_.surface().symmetric; }
  /// From two solves at frequent collisions, when it is first asked for. Nothing where they do not converge.
  [[nodiscard]] std::optional<double> u2() const override;

  /// Several points at a time. A point that does not converge is `unsolved`; ends within a point when asked to stop.
  /// Throws Error(bad_input) like Plan::solve() and solve_adapted().
  void coefficients(std::span<const double> nu_hat, std::span<const double> er_hat,
                    std::span<SurfaceDij> made) const override;

 private:
  [[nodiscard]] SurfaceDij solved(const Case& at, Plan::Workspace& workspace) const;

  Plan plan_;
  double slope_;
  DirectSolves how_;
  mutable std::once_flag u2_asked_;
  mutable std::optional<double> u2_;
};

}  // namespace sonde::neoclassical
