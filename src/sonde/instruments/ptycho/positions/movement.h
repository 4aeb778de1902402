// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/instruments/ptycho/positions/affine.h"

namespace sonde::ptycho {

/// How far positions were moved, in object pixels.
struct Movement {
  double rms = 0, largest = 0;
  Affine affine;          ///< of all movement
  double rms_beside = 0;  ///< of what the affine part leaves
  /// More than rounding on the way into a file and back.
  [[nodiscard]] bool any() const { return largest > 1e-6; }
};

/// Of the positions that both lists have.
[[nodiscard]] Movement movement_of(const std::vector<Point>& from, const std::vector<Point>& to);

/// By how much arrows are drawn longer than the movement that they show, so that a typical one becomes about half a
/// step of the scan: 1, 2 or 5 times a power of ten, at least 1. `step`: of the scan, object pixels.
[[nodiscard]] double arrows_longer(const Movement& movement, double step);

}  // namespace sonde::ptycho
