// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sonde/instruments/ptycho/scan/positions.h"

namespace sonde::ptycho {

/// How the probe misses the places where it is said to be. Lengths in the unit of the positions.
struct ScanErrors {
  double scale = 1;                     ///< of the whole scan about its mean
  double shear = 0;                     ///< columns move by this times the row, about the mean
  double rotation = 0;                  ///< rad, in the sense of Raster
  double drift_row = 0, drift_col = 0;  ///< from the first pattern to the last, evenly in time, none in the middle
  double jitter = 0;                    ///< rms along each axis, independent for every pattern
};

/// Where the probe really is: the affine part first, then drift, then jitter (from the seed and the pattern's number).
[[nodiscard]] std::vector<Point> actual_positions(std::span<const Point> nominal, const ScanErrors& errors,
                                                  std::uint64_t seed);

}  // namespace sonde::ptycho
