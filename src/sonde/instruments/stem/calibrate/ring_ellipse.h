// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "sonde/engine/array/view.h"
#include "sonde/instruments/stem/radial/bins.h"

namespace sonde::stem {

/// Where rings are looked for, in pixels from the centre.
struct RingRange {
  double inner = 0, outer = 0;
};

/// The ellipse that the rings of a pattern are, and their centre. The semi-axes have a b = 1 and a >= b.
struct RingEllipse {
  double row = 0, col = 0;  ///< px
  double row_error = 0, col_error = 0;
  Ellipse ellipse{};         ///< theta from -pi/2 to pi/2
  double ratio_error = 0;    ///< standard error of a / b
  double theta_error = 0;    ///< rad
  double variance_left = 1;  ///< of pixels about the profile of their radius, as a share of that with circles
  bool converged = false;

  [[nodiscard]] double ratio() const { return ellipse.a / ellipse.b; }
};

/// Minimises the variance of pixels about the mean of all that have their radius, over the centre and the symmetric
/// matrix of determinant 1 that makes ellipses circles: first on a grid of matrices, then by Gauss-Newton on a pattern
/// that is less and less blurred. Pixels weigh as one over the variance along their ring. An intensity that varies
/// along the rings (texture) is fitted beside, up to its second harmonic. Errors are those of a jackknife over 16
/// sectors, so that rings of few grains have the error that they should. All rings in the range count, however many.
/// `good` is flat (rows * cols), 1 for pixels that count; empty: all do. Throws Error(bad_input) for a range without
/// pixels, or one in which the pattern is constant. Costs some 100 passes over the pattern.
[[nodiscard]] RingEllipse fit_ring_ellipse(View<const double, 2> pattern, std::span<const std::uint8_t> good,
                                           double row, double col, const RingRange& range);

}  // namespace sonde::stem
