// SPDX-License-Identifier: Apache-2.0
#pragma once

// One point (coefficients, collisionality, electric field) in four normalisations. The middle is what this program, NTX
// and MONKES use, in the label psi = toroidal flux / 2 pi. All functions are exact algebra; to_x and from_x undo each
// other. Definitions: docs/neoclassical-theory.md.

namespace sonde::neoclassical {

/// The four monoenergetic coefficients in some radial label.
struct Dij {
  double D11 = 0, D31 = 0, D13 = 0, D33 = 0;
};

/// From a label to another whose derivative by the first is `slope`: from s to r it is dr/ds, from s to psi psi_a.
[[nodiscard]] Dij relabelled(const Dij& d, double slope);

/// Coefficients per psi; nu_hat = nu/v, 1/m; e_hat = -(dPhi/dpsi)/v.
struct PsiPoint {
  Dij d;
  double nu_hat = 0, e_hat = 0;
};

/// What the conversions need to know of the surface. Fields in T, lengths in m.
struct ConversionGeometry {
  double B0 = 1;      ///< the (0,0) harmonic that the coefficients are normalised with
  double G = 0;       ///< B_zeta, T m
  double I = 0;       ///< B_theta, T m
  double iota = 0;    ///< rotational transform
  double psi_p = 0;   ///< dpsi/dr, T m
  double r = 0;       ///< minor radius of the surface: only for the D31* of the benchmark
  double R0 = 0;      ///< major radius: only for the benchmark
  double signgs = 1;  ///< sign of the Jacobian of (r, theta, zeta), as in VMEC: only for SFINCS, whose angles have +1
};

/// DKES: per metre of r. nu_hat is its CMUL, er_hat = E_r/v its EFIELD.
struct DkesPoint {
  Dij d;
  double nu_hat = 0, er_hat = 0;
};
[[nodiscard]] DkesPoint to_dkes(const PsiPoint& point, const ConversionGeometry& geometry);
[[nodiscard]] PsiPoint from_dkes(const DkesPoint& point, const ConversionGeometry& geometry);

/// SFINCS with RHSMode = 3 [L14]: its transport matrix with its signs, nuPrime and
/// EStar. The first row is the particle flux and carries a minus, so that M11 M22 < 0. In the left-handed angles of
/// VMEC zeta is turned: G, G + iota I, iota and psi change sign, hence M11, M22 and EStar.
struct SfincsPoint {
  double M11 = 0, M12 = 0, M21 = 0, M22 = 0;
  double nu_prime = 0, e_star = 0;
};
[[nodiscard]] SfincsPoint to_sfincs(const PsiPoint& point, const ConversionGeometry& geometry);
/// Throws Error(bad_input) also for M11 M22 > 0, which SFINCS never prints.
[[nodiscard]] PsiPoint from_sfincs(const SfincsPoint& point, const ConversionGeometry& geometry);
/// nu_hat |G + iota I| / (nuPrime B0): the collision operator of SFINCS at x = 1, (3 sqrt(pi)/4)(erf 1 - Ch(1)) =
/// 0.836. Without it D33 is wrong by a fifth.
[[nodiscard]] double sfincs_deflection();

/// The dimensionless coefficients of the international benchmark. iota must not be zero.
struct StarPoint {
  double D11_star = 0, D31_star = 0, D13_star = 0, D33_star = 0;
  double nu_star = 0;   ///< R0 nu_hat / |iota|
  double v_e_star = 0;  ///< E_r / (v B0)
};
[[nodiscard]] StarPoint to_stars(const PsiPoint& point, const ConversionGeometry& geometry);
[[nodiscard]] PsiPoint from_stars(const StarPoint& point, const ConversionGeometry& geometry);

// All but relabelled() throw Error(bad_input) naming a number of the geometry that is zero or not finite where it is
// divided by.

}  // namespace sonde::neoclassical
