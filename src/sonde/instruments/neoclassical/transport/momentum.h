// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sonde/instruments/neoclassical/transport/fluxes.h"
#include "sonde/instruments/neoclassical/transport/friction.h"
#include "sonde/instruments/neoclassical/transport/moments.h"

namespace sonde::neoclassical {

/// What the parts of the collision operator that pitch-angle scattering leaves out do to flows and fluxes.
struct MomentumCorrection {
  int order = 0;
  /// c_aj, m/s, [species][j]: the flow that collisions give back is n_a sum_j w_j c_aj S_j(K).
  std::vector<double> c;
  std::vector<Fluxes> fluxes;  ///< of each species, corrected

  [[nodiscard]] double coefficient(std::size_t a, int j) const {
    return c[a * (static_cast<std::size_t>(order) + 1) + static_cast<std::size_t>(j)];
  }
};

/// The parallel balances of all species (Sugama and Nishimura 2002; Maassberg, Beidler, Turkin 2009) with a collision
/// operator that conserves momentum and is self-adjoint at every Sonine order: the flow of a species as a function of
/// energy, y(K), is scattered but for its projection P y on the polynomials, which the Coulomb operator C takes,
///   y -> -nu (y - P y) + P^+ C P y ,   { nu S_j (y - P y) } = 0 for j = 0 .. order.
/// docs/neoclassical-theory.md derives it, its balance, and the flow that varies along B (Pfirsch and Schlueter).
class MomentumBalance {
 public:
  /// Everything that depends neither on the surface nor on the field. `nodes` are kept by reference; their order is at
  /// least `order`, else Error(internal).
  MomentumBalance(const EnergyNodes& nodes, int order);

  /// `moments` are those of the nodes; `b2_ratio` and `u2` those of the SurfaceSource, without the latter the friction
  /// of Pfirsch-Schlueter flows stays that of scattering. Throws Error(not_converged) when nothing holds the flows
  /// back, as in a uniform field.
  [[nodiscard]] MomentumCorrection solve(std::span<const SpeciesMoments> moments, std::span<const Forces> forces,
                                         double b2_ratio, std::optional<double> u2) const;

 private:
  void correct_varying_flows(std::span<const Forces> forces, double u2, std::vector<Fluxes>& fluxes) const;

  const EnergyNodes& nodes_;
  int order_;
  std::size_t held_;          ///< terms of friction_
  std::vector<double> pair_;  ///< [a][b][j][k]: N_ab/tau_ab, and sum_b M_ab/tau_ab + N_aa/tau_aa where a = b
};

}  // namespace sonde::neoclassical
