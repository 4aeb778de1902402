// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/least_curl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"

namespace sonde {
namespace {

using Place = LeastCurl::Place;

constexpr std::size_t neighbours = 8;  // of a raster: all that touch

/// Derivatives of a field of vectors (a, b) at one place.
struct Slopes {
  double row_by_row = 0, row_by_col = 0, col_by_row = 0, col_by_col = 0;
  bool known = false;
};

/// Least squares over the nearest neighbours of position j; unknown where they lie on a line.
Slopes slopes_at(std::size_t j, std::span<const Place> places, std::span<const Place> field) {
  std::vector<std::pair<double, std::size_t>> nearest;
  for (std::size_t i = 0; i < places.size(); ++i)
    if (i != j) nearest.emplace_back(std::hypot(places[i].row - places[j].row, places[i].col - places[j].col), i);
  const std::size_t count = std::min(neighbours, nearest.size());
  std::partial_sort(nearest.begin(), nearest.begin() + static_cast<std::ptrdiff_t>(count), nearest.end());
  double yy = 0, xx = 0, yx = 0;
  Place y_field, x_field;  // sums of y times the field and x times the field
  for (std::size_t n = 0; n < count; ++n) {
    const std::size_t i = nearest[n].second;
    const double y = places[i].row - places[j].row, x = places[i].col - places[j].col;
    const Place change{field[i].row - field[j].row, field[i].col - field[j].col};
    yy += y * y;
    xx += x * x;
    yx += y * x;
    y_field = {y_field.row + y * change.row, y_field.col + y * change.col};
    x_field = {x_field.row + x * change.row, x_field.col + x * change.col};
  }
  const double determinant = yy * xx - yx * yx;
  if (!(determinant > 1e-6 * (yy + xx) * (yy + xx))) return {};
  return {(xx * y_field.row - yx * x_field.row) / determinant, (yy * x_field.row - yx * y_field.row) / determinant,
          (xx * y_field.col - yx * x_field.col) / determinant, (yy * x_field.col - yx * y_field.col) / determinant,
          true};
}

}  // namespace

LeastCurl least_curl(const CurlSums& sums) {
  const auto& [uu, vv, uv] = sums;
  LeastCurl found;
  if (!(uu + vv > 0)) return found;
  // sum curl^2 = (uu + vv) / 2 + (uu - vv) / 2 cos 2t - uv sin 2t.
  found.rotation = std::atan2(uv, (vv - uu) / 2) / 2;
  found.curl = (uu + vv - std::hypot(uu - vv, 2 * uv)) / (2 * (uu + vv));
  return found;
}

LeastCurl least_curl(std::span<const Place> nominal, std::span<const Place> deflections, bool transpose) {
  if (nominal.size() != deflections.size())
    throw Error(ErrorKind::bad_input,
                fmt::format("{} deflections at {} positions", deflections.size(), nominal.size()));
  // A deflection c is, in the frame of the scan, c turned back by the rotation and then transposed back. With the
  // derivatives of c along the nominal axes its curl is u cos - v sin and its divergence u sin + v cos, where
  //   u = dc_col/drow - dc_row/dcol, v = dc_row/drow + dc_col/dcol, and transposed
  //   u = dc_row/drow - dc_col/dcol, v = -(dc_row/dcol + dc_col/drow).
  CurlSums sums;
  if (nominal.size() > 3)
    for (std::size_t j = 0; j < nominal.size(); ++j) {
      check_interrupt();
      const Slopes s = slopes_at(j, nominal, deflections);
      if (!s.known) continue;
      const double u = transpose ? s.row_by_row - s.col_by_col : s.col_by_row - s.row_by_col;
      const double v = transpose ? -(s.row_by_col + s.col_by_row) : s.row_by_row + s.col_by_col;
      sums.uu += u * u;
      sums.vv += v * v;
      sums.uv += u * v;
    }
  return least_curl(sums);
}

}  // namespace sonde
