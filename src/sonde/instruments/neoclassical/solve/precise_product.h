// SPDX-License-Identifier: Apache-2.0
// Private to the room: products with stored blocks that are added in long double.
#pragma once

#include <span>

#include "sonde/engine/math/dense/blas.h"

namespace sonde::neoclassical {

/// y += scale op(a) x.
template <class T>
void add_product(long double scale, dense::Matrix<T> a, dense::Form form, std::span<const long double> x,
                 std::span<long double> y) {
  for (Index i = 0; i < a.extent[0]; ++i) {
    const T* const row = a.data + i * a.stride[0];
    const auto at = static_cast<std::size_t>(i);
    if (form == dense::Form::transposed) {
      for (Index j = 0; j < a.extent[1]; ++j) y[static_cast<std::size_t>(j)] += scale * row[j] * x[at];
      continue;
    }
    long double sum = 0;
    for (Index j = 0; j < a.extent[1]; ++j) sum += row[j] * x[static_cast<std::size_t>(j)];
    y[at] += scale * sum;
  }
}

/// 113 bits on every processor; on some in software.
__extension__ using Quad = __float128;

/// y += a x of a symmetric matrix, whose lower triangle is read. Sum: long double or Quad.
template <class T, class Sum>
void add_symmetric_product(dense::Matrix<T> a, std::span<const Sum> x, std::span<Sum> y) {
  for (Index i = 0; i < a.extent[0]; ++i) {
    const T* const row = a.data + i * a.stride[0];
    const auto at = static_cast<std::size_t>(i);
    Sum sum = row[i] * x[at];
    for (Index j = 0; j < i; ++j) {
      sum += row[j] * x[static_cast<std::size_t>(j)];
      y[static_cast<std::size_t>(j)] += row[j] * x[at];
    }
    y[at] += sum;
  }
}

}  // namespace sonde::neoclassical
