// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/instruments/neoclassical/database/axes.h"

namespace sonde::neoclassical {

/// What a database says of its surfaces, one value per radius. Lengths in m, fields in T.
struct RadialGeometry {
  std::vector<double> B00;        ///< (0,0) harmonic of |B| in Boozer angles
  std::vector<double> R00;        ///< (0,0) harmonic of R in Boozer angles
  std::vector<double> G, I;       ///< covariant components B_zeta, B_theta, T m
  std::vector<double> iota;       ///< rotational transform
  std::vector<double> B0_solver;  ///< the (0,0) harmonic that the coefficients are normalised with; empty: not known
  std::vector<double> signgs{};   ///< sign of the Jacobian of (s, theta, zeta); empty: not known, -1 as in VMEC
};

/// Monoenergetic coefficients over radius, collisionality and electric field, in the label s: psi is s everywhere,
/// E_hat = Es of derived_fields.h, and B0 is that of the angles in use. D33 is not multiplied by nu. Tables are
/// [rho][nu_v][Er_tilde].
struct Database {
  Axes axes;
  std::string source_name;  ///< what made it
  std::string equilibrium;  ///< of which file: name, bytes, checksum; empty: not known
  std::string grid;         ///< "25 x 25 x 60, skew"; empty: not known
  double psia = 0;          ///< |toroidal flux of the edge| / 2 pi, T m^2
  double a_b = 0;           ///< minor radius, m
  /// Whether the surfaces have stellarator symmetry, so that no coefficient depends on the sign of the field. Files
  /// that do not say so are taken for such.
  bool symmetric = true;
  RadialGeometry geometry;
  std::vector<double> D11, D31, D13, D33, D33_spitzer;
  /// Quality of each point, as the solver reports it; empty when it was not written.
  std::vector<double> onsager_residual, residual, n_xi_used;
  /// Where single precision was asked: 1 for points that were solved in it and refined, 0 for those that it did not
  /// suffice for.
  std::vector<double> precision_code;

  /// <B^2>/B0^2 of a radius: (3/2) nu_v D33_spitzer, or, where that is missing, (3/2) nu_v D33 at the highest
  /// collisionality.
  [[nodiscard]] double b2_ratio(Index radius) const;
  /// The largest onsager_residual of the points that it says something of; 0 when nobody wrote it down.
  [[nodiscard]] double largest_onsager_residual() const;
};

/// What a file must hold to be used at all, checked: axes, sizes of tables, finite values, psia and a_b above zero.
/// Throws Error(bad_input) naming the field and the point.
void require_valid(const Database& database);

/// The points whose D11 is not above zero: no logarithm can be taken of them. Unresolved points of other programs.
[[nodiscard]] Index points_without_positive_d11(const Database& database);

}  // namespace sonde::neoclassical
