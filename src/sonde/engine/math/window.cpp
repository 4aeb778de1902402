// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/window.h"

#include <cmath>
#include <numbers>

namespace sonde {

std::vector<double> hann_window(Index count) {
  std::vector<double> window;
  for (Index n = 0; n < count; ++n) {
    const double turn = 2 * std::numbers::pi * static_cast<double>(n) / static_cast<double>(count);
    window.push_back(0.5 - 0.5 * std::cos(turn));
  }
  return window;
}

}  // namespace sonde
