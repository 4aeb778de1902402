// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "sonde/instruments/stem/image/mask.h"
#include "sonde/instruments/stem/simulate/model.h"
#include "sonde/instruments/stem/simulate/specimen.h"

/// A scan small enough to sum over by plain loops.
namespace sonde::testing::small_scan {

inline constexpr Index rows = 40, cols = 36, positions = 900;

inline stem::Model model(std::vector<stem::Defect> defects = {}) {
  stem::Optics optics;
  optics.rows = rows;
  optics.cols = cols;
  optics.dose = 3000;
  optics.centre_row = 19.6;
  optics.centre_col = 17.2;
  optics.disk_radius = 6;
  optics.halo_length = 7;
  return stem::Model(optics, 30, 30, stem::scan_over(stem::Specimen(11, 3), 30, 30, 0.5), std::move(defects));
}

/// Pixels at a distance of [inner, outer) from the centre.
inline stem::Mask annulus(double inner, double outer) {
  std::vector<Index> pixels;
  for (Index row = 0; row < rows; ++row) {
    for (Index col = 0; col < cols; ++col) {
      const double distance = std::hypot(static_cast<double>(row) - 19.6, static_cast<double>(col) - 17.2);
      if (distance >= inner && distance < outer) pixels.push_back(row * cols + col);
    }
  }
  return stem::make_mask(rows, cols, std::move(pixels));
}

}  // namespace sonde::testing::small_scan
