// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/operators/line_matrix.h"

#include <algorithm>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/multiversion.h"

namespace sonde::neoclassical {
namespace {

/// Neighbours in zeta; on most processors the compiler takes several registers.
template <Index lanes>
struct Neighbours {
  using Vector [[gnu::vector_size(lanes * sizeof(double))]] = double;
  Vector of;
  [[gnu::always_inline]] static Neighbours at(const double* from) {
    Neighbours made;
    __builtin_memcpy(&made.of, from, sizeof made.of);
    return made;
  }
};

/// So many neighbours at a time. The last ones of a line that is no multiple of them are made with some before, which
/// are made twice and added once.
template <Index lanes>
[[gnu::always_inline]] inline void add_lines(const double* values, Index n_theta, Index n_zeta, double scale,
                                             const double* x, double* y) {
  using Some = Neighbours<lanes>;
  for (Index i = 0; i < n_theta; ++i, values += (n_theta + n_zeta) * n_zeta)
    for (Index done = 0; done < n_zeta;) {
      const Index j = std::min(done, n_zeta - lanes);
      Some along{}, across{};
      const double *of_theta = values + j, *of_zeta = of_theta + n_theta * n_zeta;
      for (Index other = 0; other < n_theta; ++other)
        across.of += Some::at(of_theta + other * n_zeta).of * Some::at(x + other * n_zeta + j).of;
      for (Index other = 0; other < n_zeta; ++other)
        along.of += Some::at(of_zeta + other * n_zeta).of * x[i * n_zeta + other];
      double sums[lanes];
      along.of = scale * (along.of + across.of);
      __builtin_memcpy(sums, &along.of, sizeof sums);
      for (Index lane = done - j; lane < lanes; ++lane) y[i * n_zeta + j + lane] += sums[lane];
      done = j + lanes;
    }
}

SONDE_MULTIVERSION
void add_product_of_lines(const double* values, Index n_theta, Index n_zeta, double scale, const double* x, double* y) {
  if (n_zeta >= 8) return add_lines<8>(values, n_theta, n_zeta, scale, x, y);
  return add_lines<1>(values, n_theta, n_zeta, scale, x, y);
}

}  // namespace

LineMatrix::LineMatrix(const SparseRows& a, const AngleGrid& grid)
    : n_theta_(grid.n_theta),
      n_zeta_(grid.n_zeta),
      values_(static_cast<std::size_t>(grid.count() * (grid.n_theta + grid.n_zeta))) {
  for (Index row = 0; row < a.rows(); ++row)
    for (Index at = a.first[static_cast<std::size_t>(row)]; at < a.first[static_cast<std::size_t>(row) + 1]; ++at) {
      const Index column = a.column[static_cast<std::size_t>(at)];
      const Index i = row / n_zeta_, j = row % n_zeta_, from_i = column / n_zeta_, from_j = column % n_zeta_;
      if (i != from_i && j != from_j) throw Error(ErrorKind::internal, "an entry beside the lines of its row");
      const Index other = j == from_j ? from_i : n_theta_ + from_j;
      values_[static_cast<std::size_t>((i * (n_theta_ + n_zeta_) + other) * n_zeta_ + j)] =
          a.value[static_cast<std::size_t>(at)];
    }
}

void LineMatrix::add_product(double scale, std::span<const double> x, std::span<double> y) const {
  add_product_of_lines(values_.data(), n_theta_, n_zeta_, scale, x.data(), y.data());
}

}  // namespace sonde::neoclassical
