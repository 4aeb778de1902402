// SPDX-License-Identifier: Apache-2.0
// Private to the room's tests: the rings of a polycrystal, drawn.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/engine/math/poisson.h"

namespace sonde::stem {

/// Gaussian rings on a falling background, on a detector that is not square.
struct Rings {
  Index rows = 118, cols = 131;
  double row = 57.3, col = 66.8;
  double a = 1, b = 1, theta = 0;  ///< of each ring: semi-axes a r and b r, the first from the columns toward the rows
  double q_pixel = 0.0125;         ///< 1/A, of the circle r
  double width = 0.8;              ///< px
  double texture = 0;              ///< of the brightness along the rings
  double dose = 60;                ///< counts at the top of a strong ring
  double disk = 0;                 ///< counts of the direct disk, 6 px in radius
  std::vector<double> lines = {0.24521, 0.28314, 0.40042, 0.46953, 0.49041, 0.56628, 0.61711, 0.63313};  ///< 1/A
  std::vector<double> heights = {1, 0.6, 0.5, 0.6, 0.2, 0.1, 0.3, 0.3};

  [[nodiscard]] double rate(double y, double x) const {
    const double dx = x - col, dy = y - row, c = std::cos(theta), s = std::sin(theta);
    const double along = (c * dx + s * dy) / a, across = (c * dy - s * dx) / b, r = std::hypot(along, across);
    double rings = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const double off = (r - lines[i] / q_pixel) / width;
      rings += heights[i] * std::exp(-0.5 * off * off);
    }
    const double turn = std::atan2(dy, dx);
    return dose *
               (rings * (1 + texture * std::cos(2 * (turn - 1.1))) / (1 + texture) + 0.8 * std::exp(-r / 25) + 0.05) +
           disk / (1 + std::exp((std::hypot(dx, dy) - 6) / 0.4));
  }
  /// The mean over each pixel, by 3 x 3 places.
  [[nodiscard]] std::vector<double> expected() const {
    std::vector<double> pattern;
    for (Index y = 0; y < rows; ++y)
      for (Index x = 0; x < cols; ++x) {
        double sum = 0;
        for (int i = -1; i <= 1; ++i)
          for (int j = -1; j <= 1; ++j)
            sum += rate(static_cast<double>(y) + i / 3.0, static_cast<double>(x) + j / 3.0) / 9;
        pattern.push_back(sum);
      }
    return pattern;
  }
  [[nodiscard]] std::vector<double> counts(std::uint64_t seed) const {
    const std::vector<double> pattern = expected();
    std::vector<std::uint32_t> drawn(pattern.size());
    draw_poisson({seed, 0}, pattern, drawn);
    return {drawn.begin(), drawn.end()};
  }
};

}  // namespace sonde::stem
