// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/neoclassical/geometry/series.h"
#include "sonde/instruments/neoclassical/geometry/surface.h"
#include "sonde/instruments/neoclassical/read/notes.h"
#include "sonde/instruments/neoclassical/read/radial.h"

namespace sonde::neoclassical {

/// A VMEC equilibrium in its own angles. Radii are s, the toroidal flux normalised by that of the edge; the half mesh
/// is s_j = (j - 1/2) / (ns - 1), j = 1 .. ns - 1, and row 0 of a table is its first node.
struct Wout {
  std::string path;
  int periods = 1, sign_jacobian = -1;
  bool asymmetric = false;
  Index ns = 0;  ///< surfaces of the full mesh
  int mpol = 0, ntor = 0;
  double psi_a = 0;  ///< toroidal flux of the edge / 2 pi, signed, T m^2
  double major_radius = 0, minor_radius = 0, volume = 0, aspect = 0;  ///< m, m, m^3
  double r_max = 0, r_min = 0, beta_axis = 0;

  std::vector<double> s;  ///< half mesh
  std::vector<double> iota, pressure, beta;
  std::vector<Mode> modes;  ///< of what follows
  HarmonicTable b, jacobian, b_sub_theta, b_sub_zeta, b_sup_theta, b_sup_zeta;
  std::vector<Mode> shape_modes;  ///< of what follows
  HarmonicTable lambda;           ///< half mesh
  HarmonicTable r, z;             ///< full mesh, s_j = j / (ns - 1), m
};

/// Throws Error(bad_file) when the file is missing or may not be read, and naming the variable: absent, of another
/// shape, not finite, or against the signs that VMEC keeps (signgs and sqrt(g), flux and G + iota I).
[[nodiscard]] Wout read_wout(const std::string& path);

/// The surface at 0 < s <= 1 with psi replaced by s, in VMEC's angles. Harmonics with |B_mn| < min_bmn B_00 are left
/// out of all six tables together. `notes` is what a user should know. Throws Error(bad_input) for s outside.
[[nodiscard]] Surface surface_at(const Wout& wout, double s, double min_bmn, Notes& notes);

/// iota, I, G and B_00 in VMEC's angles; without R_00.
[[nodiscard]] RadialProfile profile_at(const Wout& wout, double s);

}  // namespace sonde::neoclassical
