// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "sonde/instruments/neoclassical/read/equilibrium.h"
#include "sonde/instruments/neoclassical/transport/solved_surface.h"

namespace sonde::neoclassical {

/// Coefficients of an equilibrium solved at the very energies that are asked for, radius by radius, in place of a
/// database between its points.
class SolvedEquilibrium : public RadialSource {
 public:
  /// `a_b` as minor_radius() gives it, m.
  SolvedEquilibrium(Equilibrium equilibrium, double a_b, const GridSpec& grid, const SolverOptions& solver,
                    DirectSolves how = {})
      : equilibrium_(std::move(equilibrium)), a_b_(a_b), grid_(grid), solver_(solver), how_(std::move(how)) {}

  [[nodiscard]] double minor_radius() const override { return a_b_; }
  /// Throws like Equilibrium::surface() and Plan::prepare().
  [[nodiscard]] std::unique_ptr<SurfaceSource> at(double rho) const override;

 private:
  Equilibrium equilibrium_;
  double a_b_;
  GridSpec grid_;
  SolverOptions solver_;
  DirectSolves how_;
};

}  // namespace sonde::neoclassical
