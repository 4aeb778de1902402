// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sonde/instruments/neoclassical/geometry/angle_grid.h"

namespace sonde::neoclassical {

/// A square matrix of few entries per row, columns in rising order.
struct SparseRows {
  std::vector<Index> first;  ///< of each row in `column` and `value`; one more at the end
  std::vector<Index> column;
  std::vector<double> value;

  [[nodiscard]] Index rows() const { return static_cast<Index>(first.size()) - 1; }
  /// y += scale (A x). With a long double y every sum is one.
  void add_product(double scale, std::span<const double> x, std::span<double> y) const;
  void add_product(double scale, std::span<const double> x, std::span<long double> y) const;
};

/// The periodic Fourier derivative of an odd count of points, [i][j]: (1/2) (-1)^(i-j) / sin(pi (i-j) / n) times
/// `periods`, exact for every trigonometric polynomial that the points resolve. Antisymmetric to the last bit.
[[nodiscard]] std::vector<double> fourier_derivative(Index n, int periods);

/// (diag(by_theta) D_theta + diag(by_zeta) D_zeta) on the grid: N_theta + N_zeta - 2 entries per row.
[[nodiscard]] SparseRows directional_derivative(const AngleGrid& grid, std::span<const double> by_theta,
                                                std::span<const double> by_zeta);

/// (A - A^T) / 2 of a matrix whose entries lie symmetrically. Antisymmetric to the last bit.
[[nodiscard]] SparseRows skew_part(const SparseRows& a);

}  // namespace sonde::neoclassical
