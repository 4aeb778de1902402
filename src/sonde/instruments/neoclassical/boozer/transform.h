// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sonde/instruments/neoclassical/read/boozer_file.h"
#include "sonde/instruments/neoclassical/read/notes.h"
#include "sonde/instruments/neoclassical/read/wout.h"

namespace sonde::neoclassical {

/// Modes m < mboz and |n| <= nboz (per field period) of the result.
struct BoozerResolution {
  int mboz = 0, nboz = 0;
};

/// 6 mpol and 2 ntor, BOOZ_XFORM's usual ones.
[[nodiscard]] BoozerResolution default_resolution(const Wout& wout);

/// Boozer harmonics of a VMEC equilibrium on the surfaces `s` (increasing, 0 < s <= 1; empty: the whole half mesh).
/// With
///   w: the potential of B_theta, B_zeta, p = (w - I lambda) / (G + iota I),
///   theta_B = theta + lambda + iota p, zeta_B = zeta + p,
/// X_mn = (2 - delta_m0 delta_n0) / N sum of X cos(m theta_B - n zeta_B) J over a grid of 2 (2 mboz + 1) times
/// 2 (2 nboz + 1) points of one field period, J the Jacobian of the angles. Sums are products of matrices:
/// 20 mboz nboz N operations per surface (five tables, half the grid) for symmetric fields, four times that for others;
/// surfaces in parallel.
/// Per surface it reports max |B(theta_B, zeta_B) - B| / B_00 and the largest relative departure of
/// sqrt(g_B) B^2 / (G + iota I) from its mean; above 1e-4 a note says so.
/// Throws Error(bad_input) for radii and resolutions that make no sense; ends between surfaces when asked to stop.
[[nodiscard]] BoozerFile boozer_transform(const Wout& wout, std::vector<double> s, BoozerResolution resolution,
                                          Notes& notes);

/// The surfaces of the half mesh nearest to `s`, each once, increasing: what a boozmn file can hold. Surfaces that were
/// moved by more than 1e-7 are reported. Throws Error(bad_input) outside of 0 < s <= 1.
[[nodiscard]] std::vector<double> on_half_mesh(const Wout& wout, const std::vector<double>& s, Notes& notes);

}  // namespace sonde::neoclassical
