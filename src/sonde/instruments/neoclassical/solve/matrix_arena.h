// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "sonde/engine/math/dense/cholesky.h"

namespace sonde::neoclassical {

/// All matrices of one elimination in one piece of memory.
template <class T>
class MatrixArena {
 public:
  explicit MatrixArena(Index elements) : elements_(static_cast<std::size_t>(elements)) {}

  dense::Matrix<T> matrix(Index rows, Index columns) {
    T* const data = elements_.data() + used_;
    used_ += static_cast<std::size_t>(rows * columns);
    assert(used_ <= elements_.size());
    return dense::Matrix<T>(data, rows, columns);
  }
  std::span<T> vector(Index count) { return {matrix(1, count).data, static_cast<std::size_t>(count)}; }

 private:
  std::vector<T> elements_;
  std::size_t used_ = 0;
};

/// Storage of the matrices of each Legendre index up to one, and in one place those of all above it.
template <class T>
class LegendreStorage {
 public:
  /// `elements` for each index.
  explicit LegendreStorage(Index elements) : elements_(elements) {}

  /// Takes the memory for k <= `last` where it has not been taken before.
  void reach(Index last) {
    last_ = last;
    const std::size_t needed = bytes(elements_, last) / sizeof(T);
    if (storage_.size() >= needed) return;
    storage_ = {};  // first, or both would be there for a moment
    storage_.resize(needed);
  }
  [[nodiscard]] T* at(Index k) { return storage_.data() + std::min(k, last_ + 1) * elements_; }

  [[nodiscard]] static std::size_t bytes(Index elements, Index last) {
    return static_cast<std::size_t>((last + 2) * elements) * sizeof(T);
  }

 private:
  Index elements_, last_ = -1;
  std::vector<T> storage_;
};

/// To the other element type.
template <class From, class To>
void convert(std::span<From> from, std::span<To> to) {
  assert(from.size() <= to.size());
  std::transform(from.begin(), from.end(), to.begin(), [](From value) { return static_cast<To>(value); });
}
/// A packed matrix.
template <class From, class To>
void convert(dense::Matrix<From> from, dense::Matrix<To> to) {
  std::transform(from.data, from.data + from.count(), to.data, [](From value) { return static_cast<To>(value); });
}

/// (largest / smallest entry of the diagonal)^2 of a Cholesky factor: the condition of its matrix at least.
template <class T>
double condition(dense::Matrix<T> factor) {
  T largest = 0, smallest = std::numeric_limits<T>::max();
  for (Index i = 0; i < factor.extent[0]; ++i) {
    const T entry = std::abs(factor.data[i * factor.stride[0] + i]);
    largest = std::max(largest, entry);
    smallest = std::min(smallest, entry);
  }
  const auto ratio = static_cast<double>(largest) / static_cast<double>(smallest);
  return factor.extent[0] > 0 ? ratio * ratio : 1;
}

/// The first rows and columns of a matrix, packed anew: blocks of even and odd functions differ by one row.
template <class T>
dense::Matrix<T> shaped(dense::Matrix<T> storage, Index rows, Index columns) {
  assert(rows * columns <= storage.extent[0] * storage.stride[0]);
  return dense::Matrix<T>(storage.data, rows, columns);
}

template <class T>
void copy(dense::ConstMatrix<T> from, dense::Matrix<T> to) {
  assert(from.extent[0] == to.extent[0] && from.extent[1] == to.extent[1]);
  for (Index i = 0; i < from.extent[0]; ++i)
    std::copy_n(from.data + i * from.stride[0], from.extent[1], to.data + i * to.stride[0]);
}

template <class T>
void copy_lower(dense::ConstMatrix<T> from, dense::Matrix<T> to) {
  for (Index i = 0; i < from.extent[0]; ++i)
    std::copy_n(from.data + i * from.stride[0], i + 1, to.data + i * to.stride[0]);
}

template <class T>
void copy_transposed(dense::ConstMatrix<T> from, dense::Matrix<T> to) {
  assert(from.extent[0] == to.extent[1] && from.extent[1] == to.extent[0]);
  constexpr Index tile = 16;  // two lines of cache each way
  for (Index row = 0; row < from.extent[0]; row += tile)
    for (Index column = 0; column < from.extent[1]; column += tile)
      for (Index i = row; i < std::min(row + tile, from.extent[0]); ++i)
        for (Index j = column; j < std::min(column + tile, from.extent[1]); ++j)
          to.data[j * to.stride[0] + i] = from.data[i * from.stride[0] + j];
}

template <class T>
void set_diagonal(dense::Matrix<T> a, T value) {
  for (Index i = 0; i < a.extent[0]; ++i) {
    std::fill_n(a.data + i * a.stride[0], a.extent[1], T{0});
    a.data[i * a.stride[0] + i] = value;
  }
}

template <class T>
void add_to_diagonal(dense::Matrix<T> a, T value) {
  for (Index i = 0; i < a.extent[0]; ++i) a.data[i * a.stride[0] + i] += value;
}

/// a += tau v v^T, tau the largest entry of the diagonal: takes the null vector v of Delta_0 out, of which the sources
/// have no part.
template <class T>
void pin(dense::Matrix<T> a, std::span<const double> v) {
  T tau = 0;
  for (Index i = 0; i < a.extent[0]; ++i) tau = std::max(tau, a.data[i * a.stride[0] + i]);
  if (tau == 0) tau = 1;  // nothing but the constant is left
  for (Index i = 0; i < a.extent[0]; ++i)
    for (Index j = 0; j < a.extent[1]; ++j)
      a.data[i * a.stride[0] + j] +=
          tau * static_cast<T>(v[static_cast<std::size_t>(i)] * v[static_cast<std::size_t>(j)]);
}

/// a = P a P + tau (1 - P) with P = 1 - sum w w^T: takes orthonormal functions out of a symmetric Delta_0 that maps
/// them to next to nothing, not to zero as v. Of what it was only the lower triangle is read.
template <class T>
void leave_out(dense::Matrix<T> a, std::span<const std::vector<double>> functions) {
  for (const std::vector<double>& w : functions) {
    const std::size_t n = w.size();
    std::vector<double> product(n);  // a w
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        const double entry = a(static_cast<Index>(i), static_cast<Index>(j));
        product[i] += entry * w[j];
        if (j < i) product[j] += entry * w[i];
      }
    double along = 0;  // w^T a w
    for (std::size_t i = 0; i < n; ++i) along += w[i] * product[i];
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        a(static_cast<Index>(i), static_cast<Index>(j)) +=
            static_cast<T>(along * w[i] * w[j] - product[i] * w[j] - w[i] * product[j]);
    pin<T>(a, w);
  }
}

}  // namespace sonde::neoclassical
