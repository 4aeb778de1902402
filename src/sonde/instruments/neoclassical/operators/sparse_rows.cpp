// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/operators/sparse_rows.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sonde::neoclassical {

namespace {

template <class Sum>
void add_product_in(const SparseRows& a, double scale, std::span<const double> x, std::span<Sum> y) {
  for (std::size_t row = 0; row + 1 < a.first.size(); ++row) {
    Sum sums[4] = {};  // of their own: an addition waits for the one before
    auto at = static_cast<std::size_t>(a.first[row]);
    const auto end = static_cast<std::size_t>(a.first[row + 1]);
    const auto product = [&](std::size_t entry) {
      return Sum{a.value[entry]} * x[static_cast<std::size_t>(a.column[entry])];
    };
    for (; at + 4 <= end; at += 4)
      for (std::size_t lane = 0; lane < 4; ++lane) sums[lane] += product(at + lane);
    for (; at < end; ++at) sums[0] += product(at);
    y[row] += scale * ((sums[0] + sums[1]) + (sums[2] + sums[3]));
  }
}

}  // namespace

void SparseRows::add_product(double scale, std::span<const double> x, std::span<double> y) const {
  add_product_in(*this, scale, x, y);
}

void SparseRows::add_product(double scale, std::span<const double> x, std::span<long double> y) const {
  add_product_in(*this, scale, x, y);
}

std::vector<double> fourier_derivative(Index n, int periods) {
  const auto count = static_cast<std::size_t>(n);
  std::vector<double> derivative(count * count);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < i; ++j) {
      const double angle = std::numbers::pi * static_cast<double>(i - j) / static_cast<double>(n);
      const double entry = ((i - j) % 2 == 0 ? 0.5 : -0.5) * periods / std::sin(angle);
      derivative[static_cast<std::size_t>(i * n + j)] = entry;
      derivative[static_cast<std::size_t>(j * n + i)] = -entry;
    }
  return derivative;
}

SparseRows directional_derivative(const AngleGrid& grid, std::span<const double> by_theta,
                                  std::span<const double> by_zeta) {
  const std::vector<double> theta = fourier_derivative(grid.n_theta, 1);
  const std::vector<double> zeta = fourier_derivative(grid.n_zeta, grid.periods);
  SparseRows made;
  made.first.push_back(0);
  for (Index i = 0; i < grid.n_theta; ++i)
    for (Index j = 0; j < grid.n_zeta; ++j) {
      const auto row = static_cast<std::size_t>(grid.index(i, j));
      for (Index other = 0; other < grid.n_theta; ++other) {
        if (other != i) {
          made.column.push_back(grid.index(other, j));
          made.value.push_back(by_theta[row] * theta[static_cast<std::size_t>(i * grid.n_theta + other)]);
          continue;
        }
        for (Index along = 0; along < grid.n_zeta; ++along) {
          if (along == j) continue;
          made.column.push_back(grid.index(i, along));
          made.value.push_back(by_zeta[row] * zeta[static_cast<std::size_t>(j * grid.n_zeta + along)]);
        }
      }
      made.first.push_back(static_cast<Index>(made.column.size()));
    }
  return made;
}

SparseRows skew_part(const SparseRows& a) {
  SparseRows made = a;
  for (Index row = 0; row < a.rows(); ++row)
    for (Index at = a.first[static_cast<std::size_t>(row)]; at < a.first[static_cast<std::size_t>(row) + 1]; ++at) {
      const auto other = static_cast<std::size_t>(a.column[static_cast<std::size_t>(at)]);
      const auto begin = a.column.begin() + a.first[other], end = a.column.begin() + a.first[other + 1];
      const auto mirrored = static_cast<std::size_t>(std::lower_bound(begin, end, row) - a.column.begin());
      made.value[static_cast<std::size_t>(at)] = (a.value[static_cast<std::size_t>(at)] - a.value[mirrored]) / 2;
    }
  return made;
}

}  // namespace sonde::neoclassical
