// SPDX-License-Identifier: Apache-2.0
// Private to the room: sums of shifts, and where a parabola is lowest.
#pragma once

#include <algorithm>
#include <cmath>

#include "sonde/instruments/ptycho/scan/positions.h"

namespace sonde::ptycho {

inline Point operator+(Point a, Point b) { return {a.row + b.row, a.col + b.col}; }
inline Point operator-(Point a, Point b) { return {a.row - b.row, a.col - b.col}; }

/// Where a parabola through three equally spaced values has its lowest point, in steps from the middle one, at most
/// one; the middle when a neighbour is infinite, as errors outside of the object are.
inline double lowest(double below, double middle, double above) {
  if (std::isinf(below) || std::isinf(above)) return 0;
  const double curvature = below - 2 * middle + above;
  return curvature > 0 ? std::clamp((below - above) / (2 * curvature), -1.0, 1.0) : 0;
}

}  // namespace sonde::ptycho
