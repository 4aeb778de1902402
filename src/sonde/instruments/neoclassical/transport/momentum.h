// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sonde/instruments/neoclassical/transport/fluxes.h"
#include "sonde/instruments/neoclassical/transport/moments.h"

namespace sonde::neoclassical {

/// What the parts of the collision operator that pitch-angle scattering leaves out do to flows and fluxes.
struct MomentumCorrection {
  int order = 0;
  /// c_aj, m/s, [species][j]: the flow of species a is n_a sum_j w_j c_aj S_j(K); n_a c_a0 is its U_par.
  std::vector<double> c;
  std::vector<Fluxes> fluxes;  ///< of each species, corrected

  [[nodiscard]] double coefficient(std::size_t a, int j) const {
    return c[a * (static_cast<std::size_t>(order) + 1) + static_cast<std::size_t>(j)];
  }
};

/// Solves the parallel balances of Sonine order `order` (Sugama and Nishimura 2002; Maassberg, Beidler, Turkin 2009)
///   c_aj - F_a sum_m { (sum_k w_k [S_k S_j]_33 Z_a^km + [nu_a S_j S_m]_33) w_m c_am
///                      + sum_{b != a} sum_k w_k [S_k S_j]_33 (N_ab^km / tau_ab) w_m c_bm }
///     = -([S_j]_31 A1 + [K S_j]_31 A2 + [S_j]_33 A3),   F_a = 2 B0^2 / (v_ta^2 <B^2>),
///   Z_a = sum_b M_ab/tau_ab + N_aa/tau_aa,
/// and adds what the flows drive through the surface. `moments` are those of `nodes`, whose order is at least `order`.
/// Throws Error(not_converged) when nothing holds the flows back, as in a uniform field.
[[nodiscard]] MomentumCorrection correct_momentum(const EnergyNodes& nodes, std::span<const SpeciesMoments> moments,
                                                  std::span<const Forces> forces, double b2_ratio, int order);

}  // namespace sonde::neoclassical
