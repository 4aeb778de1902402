// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sonde/instruments/ptycho/model/measurement.h"
#include "sonde/instruments/ptycho/scan/positions.h"

namespace sonde::ptycho {

/// The mean direction of the counts of every frame, in detector pixels from the zero frequency (rows, columns), over
/// measured pixels; 0 for frames without a count.
[[nodiscard]] std::vector<Point> centres_of_mass(const Measurement& measurement);

/// The rotation of a scan under which its deflections are most nearly a gradient.
struct LeastCurl {
  double rotation = 0;  ///< rad, in [-pi/2, pi/2): a half turn more is as free of curl
  /// sum of curl^2 over the sum of curl^2 and divergence^2: 0 for a gradient, 1/2 where the field says nothing.
  double curl = 0.5;
};

/// A phase deflects the beam by its gradient, averaged over the probe, which is a gradient again: as a field over the
/// true positions the deflections have no curl. `nominal` are the positions before transposition and rotation, in the
/// sense of Raster; `deflections` belong to them, in a unit in which both axes are alike. Derivatives are least-squares
/// slopes over the nearest neighbours, so that any pattern of positions will do. The best angle is found in closed form
/// (the sum of curl^2 is a constant and a wave in twice the angle); about J^2 operations for J positions. Throws
/// Error(bad_input) when the lists differ in length. Fewer than four positions say nothing.
[[nodiscard]] LeastCurl least_curl(std::span<const Point> nominal, std::span<const Point> deflections, bool transpose);

}  // namespace sonde::ptycho
