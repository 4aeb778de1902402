// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sonde/instruments/neoclassical/database/database.h"
#include "sonde/instruments/neoclassical/read/equilibrium.h"

namespace sonde::neoclassical {

/// Lengths and fields of an equilibrium that turn coefficients in s into those per metre. In Boozer angles.
struct RadialScales {
  double psia = 0;          ///< |toroidal flux of the edge| / 2 pi, T m^2
  double a_b = 0;           ///< sqrt(volume / (2 pi^2 R00(edge))), m; of a file without volume its own minor radius
  RadialGeometry geometry;  ///< one value per radius asked for; without B0_solver
};

/// B00, R00, G, I and iota at s = rho^2 come from `boozer` when given, else from the equilibrium's own Boozer angles,
/// made here from VMEC's. Throws Error(bad_input) for a radius outside (0, 1] or in a gap of a Boozer file's surfaces,
/// and naming what is missing when neither file says the volume or a minor radius, the flux, or R00.
[[nodiscard]] RadialScales radial_scales(const Equilibrium& equilibrium, const std::optional<Equilibrium>& boozer,
                                         std::span<const double> rho, Notes& notes);

/// Only a_b: what turns E_r/v into E_s/v.
[[nodiscard]] double minor_radius(const Equilibrium& equilibrium, const std::optional<Equilibrium>& boozer);

struct Lengths {
  double a_b = 0;
  std::vector<double> R0{};  ///< of each radius; 0: the file has none
};

/// a_b and R_00 in Boozer angles, as databases have them, in m. A Boozer file without the shape of its surfaces gives
/// its own radii. Throws like radial_scales().
[[nodiscard]] Lengths lengths_at(const Equilibrium& equilibrium, const std::vector<double>& rho);

}  // namespace sonde::neoclassical
