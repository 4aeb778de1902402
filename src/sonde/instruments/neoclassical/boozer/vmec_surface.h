// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include "sonde/instruments/neoclassical/geometry/series.h"
#include "sonde/instruments/neoclassical/read/wout.h"

namespace sonde::neoclassical {

/// A surface of an equilibrium in VMEC's angles: iota, I = b_theta, G = b_zeta, and the series of |B|, sqrt(g), lambda,
/// R and Z, with w, dw/dtheta = B_theta - I and dw/dzeta = B_zeta - G.
struct VmecSurface {
  double iota = 0, b_theta = 0, b_zeta = 0, b00 = 0;
  Series b, sqrt_g, lambda, w, r, z;
  [[nodiscard]] double g_iota_i() const { return b_zeta + iota * b_theta; }
};

/// At 0 < s <= 1: half-mesh tables by radial_rule(), R and Z of the full mesh by the mean of their neighbours, odd m
/// divided by sqrt(s) before.
[[nodiscard]] VmecSurface vmec_surface(const Wout& wout, double s);

}  // namespace sonde::neoclassical
