// SPDX-License-Identifier: Apache-2.0
// Private to the room: products of few rows with weights that are put into order once, when a plan is made. OpenBLAS
// does that at every call, and for 64 rows it takes as long as half the multiplications.
#pragma once

#include "sonde/engine/base/index.h"
#include "sonde/engine/math/dense/blas.h"

namespace sonde::separate {

constexpr Index panel_columns = 32;

/// A matrix in panels of 32 columns, each row after row; columns that the last panel lacks are zeros.
struct Panels {
  const float* first = nullptr;
  Index rows = 0, columns = 0;
  Index apart = 0;  ///< numbers from one panel to the next

  /// Some of the rows.
  [[nodiscard]] Panels part(Index from, Index count) const {
    return {.first = first + from * panel_columns, .rows = count, .columns = columns, .apart = apart};
  }
};

/// Numbers of a matrix in panels.
[[nodiscard]] constexpr Index panel_count(Index rows, Index columns) {
  return rows * ((columns + panel_columns - 1) / panel_columns * panel_columns);
}

/// Where the numbers of a matrix are that is made column by column or row by row.
struct MatrixPlaces {
  Index row = 0, panel = 0;  ///< from a row, and from 32 columns, to the next
  Index count = 0;           ///< of all places
  [[nodiscard]] Index of(Index i, Index j) const { return j / panel_columns * panel + i * row + j % panel_columns; }
};
[[nodiscard]] constexpr MatrixPlaces in_panels(Index rows, Index columns) {
  return {.row = panel_columns, .panel = rows * panel_columns, .count = panel_count(rows, columns)};
}
[[nodiscard]] constexpr MatrixPlaces in_rows(Index rows, Index columns) {
  return {.row = columns, .panel = panel_columns, .count = rows * columns};
}

/// c = a b, or c += a b. Sums run along the rows of b in pieces of 256, in the same order for every number of rows of
/// a.
void multiply(dense::ConstMatrix<float> a, const Panels& b, bool add, dense::Matrix<float> c);

}  // namespace sonde::separate
