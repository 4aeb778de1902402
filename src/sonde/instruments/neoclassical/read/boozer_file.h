// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/neoclassical/geometry/series.h"
#include "sonde/instruments/neoclassical/geometry/surface.h"
#include "sonde/instruments/neoclassical/read/notes.h"
#include "sonde/instruments/neoclassical/read/radial.h"

namespace sonde::neoclassical {

/// An equilibrium in Boozer angles: profiles on many radii, |B| (and more) on some surfaces. Radii are s, the toroidal
/// flux normalised by that of the edge.
struct BoozerFile {
  std::string path;
  int periods = 1;
  /// The sign of sqrt(g). boozmn files do not say it; the angles of VMEC are left-handed.
  int sign_jacobian = -1;
  bool asymmetric = false;
  std::optional<double> psi_a;  ///< toroidal flux of the edge / 2 pi, signed, T m^2; not every file has one
  std::optional<double> major_radius, minor_radius;  ///< m, where the file has them

  std::vector<double> profile_s;              ///< radii of the profiles
  std::vector<double> iota, b_theta, b_zeta;  ///< I = b_theta and G = b_zeta, T m
  std::vector<double> pressure, beta;         ///< Pa, 1; empty where the file has none

  std::vector<double> s;  ///< radii of the surfaces
  std::vector<Mode> modes;
  HarmonicTable b;           ///< T
  HarmonicTable r, z;        ///< m; no rows where the file has none
  HarmonicTable zeta_shift;  ///< zeta of the Boozer angles minus the geometric one; no rows where there is none
  HarmonicTable jacobian;    ///< (G + iota I) / B^2, m/T; no rows where there is none

  /// What the boozmn format stores besides.
  Index ns = 0;            ///< surfaces of VMEC's full mesh: s = (j - 3/2) / (ns - 1) for the j-th, counted from 1
  int mboz = 0, nboz = 0;  ///< modes m < mboz, |n| <= nboz
  double aspect = 0, r_max = 0, r_min = 0, beta_axis = 0;
  std::vector<double> largest_defect;   ///< of a transform, per surface: max |B(Boozer) - B| / B_00
  std::vector<double> jacobian_defect;  ///< the same of sqrt(g) B^2 from its mean
};

/// How a radius becomes a surface.
struct BoozerChoice {
  /// Only surfaces of the file, the nearest one; otherwise between two of them, when they are less than 0.05 apart, by
  /// the cubic of radial.h over the surfaces around without such a gap.
  bool snap = false;
  double min_bmn = 0;  ///< harmonics with |B_mn| < min_bmn B_00 are left out
};

/// The radius that is used for s: that of a surface of the file within 1e-7 of s, or the nearest one with snap. Throws
/// Error(bad_input) listing the radii of the file where there is none.
[[nodiscard]] double radius_for(const BoozerFile& file, double s, const BoozerChoice& choice, Notes& notes);

/// Throws Error(bad_input) when the file has no psi_a, naming what gives it.
[[nodiscard]] double required_psi_a(const BoozerFile& file);

/// Throws like radius_for.
[[nodiscard]] RadialProfile profile_at(const BoozerFile& file, double s, const BoozerChoice& choice, Notes& notes);

/// The surface with psi replaced by s. Throws like radius_for, Error(bad_input) when the file has no psi_a, and
/// Error(bad_file) when psi_a and G + iota I differ in sign.
[[nodiscard]] Surface surface_at(const BoozerFile& file, double s, const BoozerChoice& choice, Notes& notes);

}  // namespace sonde::neoclassical
