// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/instruments/neoclassical/database/database.h"

namespace sonde::neoclassical {

/// What the files of databases hold beside coefficients and geometry, all of it exact algebra of those. With
/// r = a_b rho, J = G + iota I, q = r B00 and c = sqrt(pi):
struct DerivedFields {
  std::vector<double> drds;           ///< a_b / (2 rho)
  std::vector<double> dr_tildedr;     ///< 2 psia / (a_b^2 B00)
  std::vector<double> dr_tildeds;     ///< dr_tildedr drds
  std::vector<double> Er;             ///< [rho][Er_tilde] Er_tilde dr_tildedr B00: E_r / v, T
  std::vector<double> Es;             ///< [rho][Er_tilde] Er_tilde dr_tildeds B00: E_hat of the solver in the label s
  std::vector<double> Er_to_Ertilde;  ///< [rho][Er_tilde] 1 / dr_tildedr
  std::vector<double> monkes_to_sfincs_11;  ///< 8 J B00 psia^2 / (c G^2)
  std::vector<double> monkes_to_sfincs_31;  ///< 4 B00 psia / (c G)
  std::vector<double> monkes_to_sfincs_33;  ///< -2 B00 / (c J)
  std::vector<double> sfincs_to_dkes_11;    ///< c G^2 B00 / (8 J q^2)
  std::vector<double> sfincs_to_dkes_31;    ///< c G / (4 q)
  std::vector<double> sfincs_to_dkes_33;    ///< -c J / (2 B00)
  std::vector<double> dkes_to_d11_star;     ///< -(8/pi) iota R00
  std::vector<double> dkes_to_d31_star;     ///< -(3/1.46) iota sqrt(r / R00) / 2
  double dkes_to_d33_star = 1;
};

/// psia, a_b, the axes and the geometry of `database` are read, its coefficients are not. Without R00, G, I or iota the
/// factors stay empty.
[[nodiscard]] DerivedFields derived_fields(const Database& database);

}  // namespace sonde::neoclassical
