// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde::maxwell {

/// One point of a lattice and its weight.
struct Tap {
  Index index = 0;
  double weight = 0;
};

/// The points that stand for a position between them, in ascending order. A receiver reads the sum of weight times
/// field; a source adds weight times current: the transpose, so that reciprocity holds exactly.
struct Taps {
  std::vector<Tap> taps;  ///< at most 8, none of weight 0
  Index dropped = 0;      ///< points that are outside the lattice; when there are any, the weights miss their part
};

/// Weights of a sinc windowed by a Kaiser window of half-width r = 4 and b = 6.31 (Hicks 2002, "Arbitrary source and
/// receiver positioning in finite-difference schemes using Kaiser windowed sinc functions", eq. 9 and table 1):
///   W(d) = sin(pi d) / (pi d) I0(b sqrt(1 - (d / r)^2)) / I0(b), |d| < r,
/// d being the distance from `position` to points 0 ... count - 1 of one axis, in points. Waves of at least 4 points
/// per wavelength are reproduced to 1.4e-3 of their amplitude. Within 1e-9 of a point: that point, with weight 1. In
/// more dimensions the weights of the axes are multiplied. Throws Error(bad_input) when the position is not finite.
[[nodiscard]] Taps kaiser_sinc_taps(double position, Index count);

}  // namespace sonde::maxwell
