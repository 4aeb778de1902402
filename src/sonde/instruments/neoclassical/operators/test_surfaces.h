// SPDX-License-Identifier: Apache-2.0
// Surfaces of the tests of the solver.
#pragma once

#include "sonde/instruments/neoclassical/geometry/surface.h"

namespace sonde::neoclassical::testing {

/// Boozer angles, radial label psi (flux / 2 pi) times psi_p per metre: |sqrt g| B^zeta = 1.
inline Surface boozer(Series b, int periods, double iota, double b_theta, double b_zeta, double psi_p = 1) {
  Surface surface;
  surface.source = "test";
  surface.angles = "boozer";
  surface.periods = periods;
  surface.iota = iota;
  surface.psi_scale = psi_p;
  surface.b = std::move(b);
  const double g_iota_i = b_zeta + iota * b_theta;
  surface.field = BoozerField{b_theta, b_zeta, g_iota_i < 0 ? -g_iota_i : g_iota_i, 1};
  return surface;
}

/// The built-in `analytic-demo`.
inline Surface analytic() {
  return boozer({{{0, 0}, {1, 0}, {1, 1}, {2, -1}}, {1, 0.06, 0.025, 0.01}}, 5, 0.85, 0.05, 1);
}

/// W7-X EIM cut to six harmonics: w7x_eim_6modes.ddkes2.data.
inline Surface w7x() {
  return boozer({{{0, 0}, {0, 1}, {1, 1}, {1, 0}, {1, -1}, {2, 0}},
                 {2.4311, 0.11149, -0.094228, -0.040776, 0.0054553, -0.0037086}},
                5, -0.4512 / 0.5237, 0, -14.0876, -0.5237);
}

inline Surface uniform(double b = 1.3) { return boozer({{{0, 0}}, {b}}, 5, 0.7, 0.1, 2); }

/// Quasi-symmetric: B = 1 + 0.1 cos(m theta - n zeta).
inline Surface quasisymmetric(int m, int n, double iota, double b_zeta, double b_theta) {
  const int periods = n == 0 ? 1 : n;
  return boozer({{{0, 0}, {m, -n / periods}}, {1, 0.1}}, periods, iota, b_theta, b_zeta);
}

/// Angles that are not straight and a field with div B and dB_zeta / dtheta - dB_theta / dzeta that are not quite zero,
/// as truncated tables of VMEC have them; left-handed.
inline Surface vmec_like() {
  Surface surface;
  surface.source = "vmec-like";
  surface.angles = "vmec";
  surface.periods = 3;
  surface.iota = 0.6;
  surface.b = {{{0, 0}, {1, 0}, {1, 1}}, {1.5, 0.15, 0.08}};
  GeneralField field;
  field.jacobian = {{{0, 0}, {1, 0}, {0, 1}}, {-0.7, 0.1, 0.05}};
  field.b_sub_theta = {{{0, 0}, {1, 0}, {1, 1}}, {0.1, 0.02, 0.05}};
  field.b_sub_zeta = {{{0, 0}, {1, 1}}, {2, 0.07}};
  field.b_sup_theta = {{{0, 0}, {1, 0}}, {0.6, 0.1}};
  field.b_sup_zeta = {{{0, 0}, {1, 0}, {1, 1}}, {1, -0.2, 0.05}};
  surface.field = field;
  return surface;
}

}  // namespace sonde::neoclassical::testing
