// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <array>
#include <vector>

#include "sonde/instruments/neoclassical/boozer/vmec_surface.h"
#include "sonde/instruments/neoclassical/geometry/angle_grid.h"

namespace sonde::neoclassical {

/// The quantities whose harmonics are wanted. In a symmetric field the first three are even about (0, 0), the others
/// odd.
enum Quantity { field, jacobian, radius, height, shift, quantities };
constexpr bool is_odd(Index quantity) { return quantity >= height; }

/// Points of a surface with their Boozer angles.
struct BoozerPoints {
  std::vector<double> theta, zeta;  ///< Boozer angles
  std::array<std::vector<double>, quantities> values;
  std::vector<double> weight;  ///< of the sums: J times how often the point counts
  double total = 0;            ///< points of the whole grid
  double jacobian_defect = 0;  ///< the largest relative departure of sqrt(g_B) B^2 / (G + iota I) from its mean
};

/// The points of a grid of VMEC's angles, theta_B = theta + lambda + iota p and zeta_B = zeta + p; of a symmetric field
/// those of half the range of theta.
[[nodiscard]] BoozerPoints boozer_points(const VmecSurface& vmec, const AngleGrid& grid, bool asymmetric);

}  // namespace sonde::neoclassical
