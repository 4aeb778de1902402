// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/positions/movement.h"

#include <algorithm>
#include <cmath>

#include "sonde/engine/figure/image.h"

namespace sonde::ptycho {

Movement movement_of(const std::vector<Point>& from, const std::vector<Point>& to) {
  Movement movement;
  const std::size_t count = std::min(from.size(), to.size());
  double sum = 0, beside = 0;
  movement.affine = fit_affine(from, to);
  for (std::size_t j = 0; j < count; ++j) {
    const Point fitted = movement.affine.apply(from[j]);
    const double length = std::hypot(to[j].row - from[j].row, to[j].col - from[j].col);
    sum += length * length;
    beside += std::pow(std::hypot(to[j].row - fitted.row, to[j].col - fitted.col), 2);
    movement.largest = std::max(movement.largest, length);
  }
  if (count > 0) {
    movement.rms = std::sqrt(sum / static_cast<double>(count));
    movement.rms_beside = std::sqrt(beside / static_cast<double>(count));
  }
  return movement;
}

double arrows_longer(const Movement& movement, double step) {
  const double rough = movement.any() ? 0.5 * step / movement.rms : 1;
  return rough > 1 ? scale_bar_length(rough) : 1;
}

}  // namespace sonde::ptycho
