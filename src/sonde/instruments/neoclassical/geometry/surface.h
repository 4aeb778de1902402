// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "sonde/instruments/neoclassical/geometry/series.h"

namespace sonde::neoclassical {

/// The magnetic field of a surface in Boozer angles, where B itself says everything: B_theta and B_zeta are constant
/// and sqrt(g) B^2 is, too. T m, and the units of the radial label.
struct BoozerField {
  double b_theta = 0;      ///< I: covariant component, the toroidal current within
  double b_zeta = 0;       ///< G: covariant component, the poloidal current outside
  double jacobian_b2 = 0;  ///< sqrt(g) B^2 with the sign of sqrt(g)
  double flux = 0;         ///< |sqrt(g)| B^zeta; |sqrt(g)| B^theta is iota times that
};

/// The same in angles that are not straight, as VMEC has them, each of its own series.
struct GeneralField {
  Series jacobian;                 ///< sqrt(g), signed
  Series b_sub_theta, b_sub_zeta;  ///< covariant, T m
  Series b_sup_theta, b_sup_zeta;  ///< contravariant, T/m
};

/// One flux surface: what the drift-kinetic equation needs to know. Lengths in m, fields in T. The radial label psi is
/// that of sqrt(g): the flux through 2 pi, or s in [0, 1] for what is made from files of equilibria.
struct Surface {
  std::string source{};  ///< the file, or the name of a built-in surface
  std::string angles{};  ///< "boozer" or "vmec"
  int periods = 1;       ///< N_fp
  double iota = 0;
  double psi_scale = 1;  ///< a = dpsi/dr: coefficients are per r; 1 where they are wanted in psi itself
  double s = 0;          ///< of an equilibrium, else 0
  Series b;              ///< |B|
  std::variant<BoozerField, GeneralField> field;

  /// B0: the (0,0) harmonic of |B| in the angles in use.
  [[nodiscard]] double reference_field() const { return b.cosine_of({0, 0}); }
  /// I and G: the (0,0) harmonics of the covariant components, T m.
  [[nodiscard]] double mean_b_theta() const;
  [[nodiscard]] double mean_b_zeta() const;
  [[nodiscard]] bool symmetric() const;
  /// Sign of the Jacobian of (label, theta, zeta), as signgs of VMEC: -1 for left-handed angles.
  [[nodiscard]] double signgs() const;
};

/// What a user should know of coefficients of a surface without stellarator symmetry; nothing of others.
[[nodiscard]] std::optional<std::string> asymmetry_note(const Surface& surface);

/// Throws Error(bad_input) for a surface without B_00 > 0, with values that are not finite, or with N_fp < 1.
void require_valid(const Surface& surface);

}  // namespace sonde::neoclassical
