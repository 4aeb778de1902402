// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/instruments/neoclassical/solve/plan.h"
#include "sonde/instruments/neoclassical/transport/surface_source.h"

namespace sonde::neoclassical {

/// Coefficients solved at the very points that are asked for: no table, no interpolation.
class SolvedSurface : public SurfaceSource {
 public:
  /// `plan` in a label psi (s, for files of equilibria), `slope` = dr/dpsi.
  SolvedSurface(Plan plan, double slope) : plan_(std::move(plan)), slope_(slope) {}

  [[nodiscard]] double reference_field() const override { return plan_.surface().reference_field; }
  [[nodiscard]] double b2_ratio() const override {
    return plan_.surface().b2_mean / (reference_field() * reference_field());
  }

  /// Several points at a time. Throws like Plan::solve.
  void coefficients(std::span<const double> nu_hat, std::span<const double> er_hat,
                    std::span<SurfaceDij> made) const override;

 private:
  Plan plan_;
  double slope_;
};

}  // namespace sonde::neoclassical
