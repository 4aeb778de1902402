// SPDX-License-Identifier: Apache-2.0
// Newton's steps to a maximum of a smooth function of a place: of correlations here, of spectra in room spectra.
#pragma once

#include <array>
#include <cmath>
#include <optional>

#include "sonde/instruments/stem/bragg/refine.h"

namespace sonde::stem {

/// The derivatives of a function at a place: those of order a in y and b in x at [3 a + b].
using Derivatives = std::array<double, 9>;

/// Newton's steps with derivatives_at(y, x). Nothing where there is no maximum within 1.5 px of the start.
template <class At>
std::optional<PlacedMaximum> climb(const PlacedMaximum& start, At&& derivatives_at) {
  constexpr int most_steps = 6;  // they double the digits; from half a pixel three reach float's
  PlacedMaximum place = start;
  for (int step = 0; step < most_steps; ++step) {
    const Derivatives d = derivatives_at(place.y, place.x);
    place.value = d[0];
    place.yy = d[6];
    place.yx = d[4];
    place.xx = d[2];
    const double determinant = place.yy * place.xx - place.yx * place.yx;
    if (!(place.yy < 0) || !(determinant > 0)) return std::nullopt;
    double y = -(place.xx * d[3] - place.yx * d[1]) / determinant;
    double x = -(place.yy * d[1] - place.yx * d[3]) / determinant;
    const double length = std::hypot(y, x);
    if (length > longest_step) {
      y *= longest_step / length;
      x *= longest_step / length;
    }
    place.y += y;
    place.x += x;
    if (std::hypot(place.y - start.y, place.x - start.x) > farthest_move) return std::nullopt;
    if (length >= small_step) continue;
    // To first order; what is left is of the square of the step.
    place.value += (d[3] * y + d[1] * x) / 2;
    return place;
  }
  return std::nullopt;
}

}  // namespace sonde::stem
