// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde::stem {

/// Sample points of a detector, one per pixel: at the pixel's centre moved by (shift_row, shift_col), each in
/// [-0.5, 0.5).
struct SampleGrid {
  Index rows = 0, cols = 0;
  double shift_row = 0, shift_col = 0;

  [[nodiscard]] double row(Index r) const { return static_cast<double>(r) + shift_row; }
  [[nodiscard]] double col(Index c) const { return static_cast<double>(c) + shift_col; }
  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(rows * cols); }
};

/// One byte per sample, one inside and zero outside.
using SampleSet = std::vector<std::uint8_t>;

/// The distance that decides membership everywhere: in shapes and in radial prefix planes.
[[nodiscard]] inline double distance(double rows, double cols) { return std::sqrt(rows * rows + cols * cols); }

}  // namespace sonde::stem
