// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/instruments/neoclassical/transport/moments.h"
#include "sonde/instruments/neoclassical/transport/plasma.h"

namespace sonde::neoclassical {

/// A1 = n'/n - (3/2) T'/T - q er/T, A2 = T'/T, A3 = -(q/T) B0 <E_par B>/<B^2>; 1/m.
struct Forces {
  double A1 = 0, A2 = 0, A3 = 0;
};

/// At the field `er` = E_r, V/m; `electric_drive` is B0 <E_par B>/<B^2>, V/m.
[[nodiscard]] Forces thermodynamic_forces(const Population& population, double er, double electric_drive = 0);

/// Gamma = -n (L11 A1 + L12 A2 + L13 A3), Q = -n T (L21 ...), U_par = -n (L31 ...).
struct ThermalMatrix {
  double L11 = 0, L12 = 0, L13 = 0;
  double L21 = 0, L22 = 0, L23 = 0;
  double L31 = 0, L32 = 0, L33 = 0;
};
[[nodiscard]] ThermalMatrix thermal_matrix(const SpeciesMoments& moments);

/// Per species.
struct Fluxes {
  double gamma = 0;  ///< particles through the surface, 1/(m^2 s)
  double q = 0;      ///< energy, W/m^2
  double u_par = 0;  ///< <B times the parallel flow of particles>/B0, 1/(m^2 s)
};
[[nodiscard]] Fluxes fluxes(const Population& population, const ThermalMatrix& matrix, const Forces& forces);

}  // namespace sonde::neoclassical
