// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/figure/chart.h"
#include "sonde/instruments/neoclassical/geometry/sampled_surface.h"
#include "sonde/instruments/neoclassical/results/result_file.h"

namespace sonde::neoclassical {

/// |B| on one surface, and where its lines go.
struct SurfaceField {
  std::string title{};  ///< of what, where, in which angles
  Series b;
  AngleGrid grid{};             ///< of what follows
  std::vector<double> slope{};  ///< dtheta/dzeta = B^theta / B^zeta along the field
};

/// Of a surface that is at hand.
[[nodiscard]] SurfaceField surface_field(const Surface& surface, const SampledSurface& sampled);
/// As a run stored it. Throws Error(bad_file) naming the quantity that is missing or has another length.
[[nodiscard]] SurfaceField surface_field(const ResultFile& file);

/// theta along the line through (theta, zeta = 0), at `steps` + 1 even steps to zeta_end. The slope between the points
/// of the grid is a periodic cubic; steps of fourth order (Runge-Kutta). Costs some 200 operations a step.
[[nodiscard]] std::vector<double> field_line(const SurfaceField& field, double theta, double zeta_end, Index steps);

/// |B| over one field period, coloured and with contours; and the line through (0, 0), once around the torus.
[[nodiscard]] Chart field_chart(const SurfaceField& field);

}  // namespace sonde::neoclassical
