// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sonde/instruments/neoclassical/operators/sparse_rows.h"

namespace sonde::neoclassical {

/// A matrix on the grid of angles whose rows meet only their own lines of the grid, as derivatives along theta and
/// zeta do, stored so that a product runs along neighbours in zeta: a quarter of the time of SparseRows, whose columns
/// have to be fetched one by one.
class LineMatrix {
 public:
  LineMatrix() = default;
  /// Throws Error(internal) for an entry that is on neither line of its row.
  LineMatrix(const SparseRows& a, const AngleGrid& grid);

  /// y += scale (A x). x and y do not overlap.
  void add_product(double scale, std::span<const double> x, std::span<double> y) const;

 private:
  Index n_theta_ = 0, n_zeta_ = 0;
  /// [i][other][j]: what row (i, j) takes from (i', j), other = i', and from (i, j'), other = N_theta + j'.
  std::vector<double> values_;
};

}  // namespace sonde::neoclassical
