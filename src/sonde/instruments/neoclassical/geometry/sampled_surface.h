// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sonde/instruments/neoclassical/geometry/angle_grid.h"
#include "sonde/instruments/neoclassical/geometry/surface.h"

namespace sonde::neoclassical {

/// A surface on a grid of angles. Every array is [theta][zeta].
struct SampledSurface {
  AngleGrid grid;
  double iota = 0, psi_scale = 1, reference_field = 0;
  bool symmetric = false;                      ///< stellarator symmetric: all fields are even about (0, 0)
  std::vector<double> b, db_dtheta, db_dzeta;  ///< T; derivatives of the Fourier series itself
  std::vector<double> jacobian;                ///< sqrt(g), signed
  std::vector<double> b_sub_theta, b_sub_zeta, b_sup_theta, b_sup_zeta;

  /// <B^2>, T^2.
  double b2_mean = 0;
  /// The integral of |sqrt(g)| over both angles, all field periods: dV/dpsi.
  double volume_prime = 0;

  /// vm = (B_theta dB/dzeta - B_zeta dB/dtheta) / (sqrt(g) B^3): the radial drift but for its factors.
  [[nodiscard]] std::vector<double> radial_drift() const;
  /// <X> = sum X |sqrt g| / sum |sqrt g|.
  [[nodiscard]] double average(std::span<const double> values) const;
};

/// Throws like require_valid(), require_odd() and require_resolution(), and Error(bad_input) where |B| or sqrt(g) is
/// not of one sign on the grid.
[[nodiscard]] SampledSurface sample(const Surface& surface, Index n_theta, Index n_zeta);

}  // namespace sonde::neoclassical
