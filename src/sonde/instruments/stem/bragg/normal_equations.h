// SPDX-License-Identifier: Apache-2.0
// Private to the room: a few linear equations.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>

namespace sonde::stem {

template <std::size_t N>
using Few = std::array<double, N>;
template <std::size_t N>
using Square = std::array<Few<N>, N>;

/// The inverse of a symmetric matrix of which the lower half is given, by Cholesky's factors of it scaled to a diagonal
/// of 1; nothing where it is not positive definite to 10^-12.
template <std::size_t N>
[[nodiscard]] std::optional<Square<N>> inverse_of(const Square<N>& a) {
  Few<N> scale{};
  for (std::size_t i = 0; i < N; ++i) {
    if (!(a[i][i] > 0)) return std::nullopt;
    scale[i] = 1 / std::sqrt(a[i][i]);
  }
  Square<N> factor{}, inverse_factor{}, inverse{};
  for (std::size_t i = 0; i < N; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i][j] * scale[i] * scale[j];
      for (std::size_t k = 0; k < j; ++k) sum -= factor[i][k] * factor[j][k];
      if (i != j) {
        factor[i][j] = sum / factor[j][j];
        continue;
      }
      if (!(sum > 1e-12)) return std::nullopt;
      factor[i][i] = std::sqrt(sum);
    }
  for (std::size_t j = 0; j < N; ++j) {
    inverse_factor[j][j] = 1 / factor[j][j];
    for (std::size_t i = j + 1; i < N; ++i) {
      double sum = 0;
      for (std::size_t k = j; k < i; ++k) sum -= factor[i][k] * inverse_factor[k][j];
      inverse_factor[i][j] = sum / factor[i][i];
    }
  }
  for (std::size_t i = 0; i < N; ++i)
    for (std::size_t j = 0; j < N; ++j) {
      double sum = 0;
      for (std::size_t k = i > j ? i : j; k < N; ++k) sum += inverse_factor[k][i] * inverse_factor[k][j];
      inverse[i][j] = sum * scale[i] * scale[j];
    }
  return inverse;
}

template <std::size_t N>
[[nodiscard]] Few<N> product(const Square<N>& a, const Few<N>& b) {
  Few<N> to{};
  for (std::size_t i = 0; i < N; ++i)
    for (std::size_t j = 0; j < N; ++j) to[i] += a[i][j] * b[j];
  return to;
}

}  // namespace sonde::stem
