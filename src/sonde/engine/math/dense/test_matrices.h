// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "sonde/engine/math/dense/blas.h"

namespace sonde::dense::testing {

/// A matrix that owns its elements, inside of a wider one so that rows are apart.
template <class T>
struct Owned {
  Owned(Index rows, Index columns, Index apart = 3)
      : elements(static_cast<std::size_t>(rows * (columns + apart)), T{7}), view(elements.data(), rows, columns) {
    view.stride[0] = columns + apart;
  }
  Owned(const Owned& other) : elements(other.elements), view(other.view) { view.data = elements.data(); }
  Owned& operator=(const Owned&) = delete;

  T& operator()(Index i, Index j) { return view(i, j); }
  [[nodiscard]] Index rows() const { return view.extent[0]; }
  [[nodiscard]] Index columns() const { return view.extent[1]; }

  std::vector<T> elements;
  Matrix<T> view;
};

/// Entries between -1 and 1 from a short generator of its own.
template <class T>
void fill(Matrix<T> a, std::uint64_t seed) {
  std::uint64_t state = seed * 2 + 1;
  for (Index i = 0; i < a.extent[0]; ++i)
    for (Index j = 0; j < a.extent[1]; ++j) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      a(i, j) = static_cast<T>(static_cast<double>(state >> 40U) / 8388608.0 - 1);
    }
}

/// B B^T + n I: positive definite, with a condition of order one.
template <class T>
Owned<T> positive_definite(Index n, std::uint64_t seed) {
  Owned<T> b(n, n), a(n, n);
  fill(b.view, seed);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) {
      double sum = i == j ? static_cast<double>(n) : 0;
      for (Index k = 0; k < n; ++k) sum += static_cast<double>(b(i, k)) * static_cast<double>(b(j, k));
      a(i, j) = static_cast<T>(sum);
    }
  return a;
}

}  // namespace sonde::dense::testing
