// SPDX-License-Identifier: Apache-2.0
// Private to the room: what the batched operations do besides products, as templates over the thread block
// (engine/device/team.h).
#pragma once

#include <cmath>
#include <cstdint>

#include "sonde/engine/array/view.h"
#include "sonde/engine/device/run_body.h"

namespace sonde::dense::device {

/// A thread block's share of a matrix: 256 threads with eight elements each.
inline constexpr Index strip = 2048;

/// BatchedAlgebra::combine. A piece of a matrix for each thread block.
struct Combine {
  double alpha = 1, beta = 0;
  View<const double, 2> factors;  ///< (problem, column); without data: one
  View<const double, 3> from;
  View<double, 3> to;

  [[nodiscard]] SONDE_HOST_DEVICE Index elements() const { return to.extent[1] * to.extent[2]; }
  [[nodiscard]] SONDE_HOST_DEVICE Index strips() const { return (elements() + strip - 1) / strip; }

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    for (Index piece = block.index(); piece < to.extent[0] * strips(); piece += block.count()) {
      const Index problem = piece / strips(), first = piece % strips() * strip;
      const Index left = elements() - first;
      block.each(left < strip ? left : strip, [&](Index i) {
        const auto element = static_cast<std::uint32_t>(first + i), columns = static_cast<std::uint32_t>(to.extent[2]);
        const Index row = element / columns, column = element % columns;
        const double factor = factors.data == nullptr ? alpha : alpha * factors(problem, column);
        double& target = to(problem, row, column);
        target = (alpha == 0 ? 0 : factor * from(problem, row, column)) + (beta == 0 ? 0 : beta * target);
      });
    }
  }
};

/// BatchedAlgebra::add_to_diagonal. A thread block for each problem.
struct AddToDiagonal {
  double alpha = 1;
  View<const double, 2> values;  ///< (problem, place on the diagonal)
  Index offset = 0;
  View<double, 3> to;

  [[nodiscard]] SONDE_HOST_DEVICE Index first_row() const { return offset > 0 ? offset : 0; }
  [[nodiscard]] SONDE_HOST_DEVICE Index first_column() const { return offset < 0 ? -offset : 0; }
  [[nodiscard]] SONDE_HOST_DEVICE Index count() const {
    const Index rows = to.extent[1] - first_row(), columns = to.extent[2] - first_column();
    return rows < columns ? rows : columns;
  }

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    for (Index problem = block.index(); problem < to.extent[0]; problem += block.count())
      block.each(count(),
                 [&](Index i) { to(problem, first_row() + i, first_column() + i) += alpha * values(problem, i); });
  }
};

/// A block on the diagonal, of a few dozen rows: a = R R^T in the lower triangle, and R^-1 with zeros above into
/// `inverse`. A thread block for each problem, with scratch_bytes() of shared memory.
struct FactoriseAndInvert {
  View<double, 3> a, inverse;
  View<Index, 1> failed;  ///< of each problem: `mark` where this is the first block that is not positive definite
  Index mark = 0;

  [[nodiscard]] std::size_t scratch_bytes() const {
    return static_cast<std::size_t>(2 * a.extent[1] * a.extent[1]) * sizeof(double);
  }

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    const Index n = a.extent[1];
    auto* const r = reinterpret_cast<double*>(block.scratch());
    double* const x = r + n * n;
    for (Index problem = block.index(); problem < a.extent[0]; problem += block.count()) {
      block.each(n * n, [&](Index i) { r[i] = a(problem, i / n, i % n); });
      for (Index k = 0; k < n; ++k) {
        block.once([&] {
          double& pivot = r[k * n + k];
          if (!(pivot > 0) && failed(problem) < 0) failed(problem) = mark;
          pivot = std::sqrt(pivot);
        });
        block.each(n - k - 1, [&](Index i) { r[(k + 1 + i) * n + k] /= r[k * n + k]; });
        const Index rest = n - k - 1;
        block.each(rest * rest, [&](Index i) {
          const Index row = k + 1 + i / rest, column = k + 1 + i % rest;
          if (column <= row) r[row * n + column] -= r[row * n + k] * r[column * n + k];
        });
      }
      // Each column of the inverse is a forward substitution of its own.
      block.each(n, [&](Index column) {
        for (Index row = 0; row < column; ++row) x[row * n + column] = 0;
        for (Index row = column; row < n; ++row) {
          double sum = row == column ? 1 : 0;
          for (Index k = column; k < row; ++k) sum -= r[row * n + k] * x[k * n + column];
          x[row * n + column] = sum / r[row * n + row];
        }
      });
      block.each(n * n, [&](Index i) {
        const Index row = i / n, column = i % n;
        if (column <= row) a(problem, row, column) = r[i];
        inverse(problem, row, column) = x[i];
      });
    }
  }
};

}  // namespace sonde::dense::device
