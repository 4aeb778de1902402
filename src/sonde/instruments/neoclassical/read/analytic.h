// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/instruments/neoclassical/geometry/surface.h"

namespace sonde::neoclassical {

/// One surface by its harmonics in Boozer angles, in the units of DKES: the label is psi = flux / 2 pi, and
/// psi_p = dpsi/dr.
struct AnalyticSurface {
  std::string name;
  int periods = 1;
  double iota = 0, psi_p = 0, b_theta = 0, b_zeta = 0;
  Series b;
  /// Of sqrt(g) in (r, theta, zeta), where angles and signs are those of an equilibrium. 0: those of MONKES and NTX,
  /// which take |sqrt g| and B^zeta > 0.
  int sign_jacobian = 0;
};

/// |sqrt g| = |B_zeta + iota B_theta| / B^2, B^zeta = 1 / |sqrt g|, B^theta = iota / |sqrt g|; with sign_jacobian
/// B^zeta = B^2 / (B_zeta + iota B_theta). Throws like require_valid().
[[nodiscard]] Surface make_surface(const AnalyticSurface& analytic);

/// "analytic-demo": B = 1 + 0.06 cos theta + 0.025 cos(theta + 5 zeta) + 0.01 cos(2 theta - 5 zeta), 5 field periods,
/// iota 0.85, psi_p 1, B_theta 0.05, B_zeta 1.
[[nodiscard]] AnalyticSurface analytic_demo();

}  // namespace sonde::neoclassical
