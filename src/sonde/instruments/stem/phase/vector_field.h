// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde::stem {

/// A vector at every position of a scan, row after row: x along the columns, y along the rows (downwards on a screen).
/// Positions are step_col and step_row apart. Where `valid` is 0 nothing was measured, and x and y are NaN.
struct VectorField {
  Index rows = 0, cols = 0;
  double step_row = 1, step_col = 1;
  std::vector<double> x{}, y{};
  std::vector<double> counts{};  ///< behind each vector: its weight in fits
  std::vector<std::uint8_t> valid{};

  [[nodiscard]] Index positions() const { return rows * cols; }
  [[nodiscard]] Index missing() const;
};

/// A field of these extents, valid everywhere, with vectors of zero and one count each.
[[nodiscard]] VectorField make_field(Index rows, Index cols, double step_row = 1, double step_col = 1);

/// v' = scale R(rotation) T v with R(t) = [[cos t, -sin t], [sin t, cos t]] on (x, y), so that a positive angle turns
/// +x towards +y (clockwise on a screen), and T exchanging x and y where `transpose`: from the axes of the detector to
/// those of the scan. `rotation` in rad.
[[nodiscard]] VectorField turned(VectorField field, double rotation, bool transpose, double scale = 1);

/// Each vector becomes the mean of its neighbours along both axes, weighted by a Gaussian of `sigma` steps within 4
/// sigma; at the border the value of the straight line that fits them best, so that a linear field stays as it is
/// everywhere. Missing ones are filled for it and stay missing. 0: unchanged.
[[nodiscard]] VectorField blurred(VectorField field, double sigma);

/// d_x y - d_y x and d_x x + d_y y of a field, by central differences over two steps; NaN at the border and where one
/// of the four neighbours, or the position itself, is missing.
struct CurlAndDivergence {
  std::vector<double> curl, divergence;
};
[[nodiscard]] CurlAndDivergence curl_and_divergence(const VectorField& field);

/// Missing vectors become means of those beside them, from the rim of each gap inwards: for integrals that need all.
[[nodiscard]] VectorField filled(VectorField field);

}  // namespace sonde::stem
