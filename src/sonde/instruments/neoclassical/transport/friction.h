// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace sonde::neoclassical {

/// Matrix elements of the linearised Coulomb operator between Sonine polynomials, for flows of species a against b.
/// With f_a = (2 v_par/v_ta^2) f_Ma sum_k u_ak S_k,
///   integral of v_par S_j C_ab = (n_a / tau_ab) sum_k (M_jk u_ak + N_jk u_bk).
/// [j][k], both from 0 to order.
struct FrictionMatrices {
  int order = 0;
  std::vector<double> M, N;
  [[nodiscard]] double m(int j, int k) const { return M[place(j, k)]; }
  [[nodiscard]] double n(int j, int k) const { return N[place(j, k)]; }

 private:
  [[nodiscard]] std::size_t place(int j, int k) const {
    return static_cast<std::size_t>(j) * (static_cast<std::size_t>(order) + 1) + static_cast<std::size_t>(k);
  }
};

/// `mass_ratio` m_a/m_b and `speed_ratio` y = v_tb^2/v_ta^2, both above zero; order up to highest_sonine_order. Up to
/// order 2 these are the closed forms of Hirshman and Sigmar (1981), at any order the exact elements of Landau's
/// operator for equal temperatures, where N_jk^ab = (v_ta/v_tb) N_kj^ba. For unequal ones they extend that paper's
/// choice: row and column 0 hold 1 + m_a/m_b, so that momentum is conserved exactly, and all other N are scaled by
/// T_a/T_b. The derivation is in docs/neoclassical-theory.md.
[[nodiscard]] FrictionMatrices friction_matrices(double mass_ratio, double speed_ratio, int order);

}  // namespace sonde::neoclassical
