// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/positions/affine.h"

#include <cmath>

namespace sonde::ptycho {

Point Affine::apply(Point from) const {
  const double y = from.row - centre.row, x = from.col - centre.col;
  return {offset.row + row_row * y + row_col * x, offset.col + col_row * y + col_col * x};
}

double Affine::scale() const { return std::sqrt(std::abs(row_row * col_col - row_col * col_row)); }

double Affine::rotation() const { return std::atan2(col_row - row_col, row_row + col_col); }

double Affine::shear() const {
  // Singular values of a 2 x 2 matrix: mean and half difference are these two lengths.
  const double mean = std::hypot(row_row + col_col, col_row - row_col) / 2;
  const double half_difference = std::hypot(row_row - col_col, col_row + row_col) / 2;
  return mean > 0 ? half_difference / mean : 0;
}

Affine fit_affine(std::span<const Point> from, std::span<const Point> to) {
  Affine fit;
  const auto n = static_cast<double>(from.size());
  if (from.empty()) return fit;
  for (std::size_t i = 0; i < from.size(); ++i) {
    fit.centre.row += from[i].row / n;
    fit.centre.col += from[i].col / n;
    fit.offset.row += to[i].row / n;
    fit.offset.col += to[i].col / n;
  }
  double yy = 0, yx = 0, xx = 0, ry = 0, rx = 0, cy = 0, cx = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const double y = from[i].row - fit.centre.row, x = from[i].col - fit.centre.col;
    const double r = to[i].row - fit.offset.row, c = to[i].col - fit.offset.col;
    yy += y * y;
    yx += y * x;
    xx += x * x;
    ry += r * y;
    rx += r * x;
    cy += c * y;
    cx += c * x;
  }
  const double determinant = yy * xx - yx * yx;
  // On a line, or nearly: the other direction cannot be known.
  if (from.size() < 3 || determinant < 1e-9 * (yy + xx) * (yy + xx)) return fit;
  fit.row_row = (ry * xx - rx * yx) / determinant;
  fit.row_col = (rx * yy - ry * yx) / determinant;
  fit.col_row = (cy * xx - cx * yx) / determinant;
  fit.col_col = (cx * yy - cy * yx) / determinant;
  return fit;
}

}  // namespace sonde::ptycho
