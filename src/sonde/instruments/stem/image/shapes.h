// SPDX-License-Identifier: Apache-2.0
// Private: which sample points of a detector lie in a shape. One sample per pixel, at the pixel's centre moved by
// (shift_row, shift_col), each in [-0.5, 0.5).
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde::stem {

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

struct Ring {
  double row = 0, col = 0, r_in = 0, r_out = 0;
  bool inclusive = false;

  [[nodiscard]] bool holds(double d) const { return d >= r_in && (inclusive ? d <= r_out : d < r_out); }
};
[[nodiscard]] SampleSet ring_samples(const SampleGrid& grid, const Ring& ring);

/// Piece k of n, counted from phi0 in radians.
[[nodiscard]] SampleSet segment_samples(const SampleGrid& grid, const Ring& ring, double k, double n, double phi0);

/// Whole pixels with row0 <= row < row1 and col0 <= col < col1.
[[nodiscard]] SampleSet rect_samples(const SampleGrid& grid, double row0, double col0, double row1, double col1);

/// Whole pixels: row, first column, first column outside, row, ...
[[nodiscard]] SampleSet runs_samples(const SampleGrid& grid, std::span<const double> runs);

/// Vertices row, col, row, col, ...
[[nodiscard]] SampleSet polygon_samples(const SampleGrid& grid, std::span<const double> vertices);

}  // namespace sonde::stem
