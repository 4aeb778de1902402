// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/dense/cholesky_block.h"

#include <algorithm>
#include <cmath>

#include "sonde/engine/device/multiversion.h"

namespace sonde::dense::cpu {
namespace {

/// to -= sum of four factors times rows: one pass over `to` for four.
template <class T>
[[gnu::always_inline]] inline void subtract_four(const T* factors, Index factor_step, const T* rows, Index row_step,
                                                 Index first, Index last, T* to) {
  const T f0 = factors[0], f1 = factors[factor_step], f2 = factors[2 * factor_step], f3 = factors[3 * factor_step];
  const T *r0 = rows, *r1 = rows + row_step, *r2 = rows + 2 * row_step, *r3 = rows + 3 * row_step;
  for (Index i = first; i < last; ++i) to[i] -= f0 * r0[i] + f1 * r1[i] + f2 * r2[i] + f3 * r3[i];
}

template <class T>
[[gnu::always_inline]] inline void subtract(T factor, const T* row, Index first, Index last, T* to) {
  for (Index i = first; i < last; ++i) to[i] -= factor * row[i];
}

/// The factor is made as its transpose in `u`, row after row, so that all loops run along rows.
template <class T>
[[gnu::always_inline]] inline bool run(Matrix<T> a, Matrix<T> inverse, T* u) {
  const Index n = a.extent[0], below = a.stride[0], step = inverse.stride[0];
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j) u[j * n + i] = a.data[i * below + j];
  for (Index first = 0; first < n; first += 4) {
    const Index last = std::min(first + 4, n);
    for (Index row = first; row < last; ++row) {
      T* const own = u + row * n;
      for (Index above = first; above < row; ++above) subtract(u[above * n + row], u + above * n, row, n, own);
      if (!(own[row] > 0)) return false;
      const T scale = 1 / std::sqrt(own[row]);
      for (Index i = row; i < n; ++i) own[i] *= scale;
    }
    for (Index row = last; row < n; ++row) subtract_four(u + first * n + row, n, u + first * n, n, row, n, u + row * n);
  }
  for (Index i = 0; i < n; ++i) {
    T* const factor = a.data + i * below;
    for (Index j = 0; j <= i; ++j) factor[j] = u[j * n + i];
    T* const row = inverse.data + i * step;  // (unit row i - sum over j < i of R_ij row j) / R_ii
    std::fill_n(row, inverse.extent[1], T{0});
    Index j = 0;
    for (; j + 4 <= i; j += 4) subtract_four(factor + j, 1, inverse.data + j * step, step, 0, j + 4, row);
    for (; j < i; ++j) subtract(factor[j], inverse.data + j * step, 0, j + 1, row);
    const T scale = 1 / factor[i];
    for (Index k = 0; k < i; ++k) row[k] *= scale;
    row[i] = scale;
  }
  return true;
}

}  // namespace

SONDE_MULTIVERSION bool factorise_and_invert(Matrix<float> a, Matrix<float> inverse, float* work) {
  return run(a, inverse, work);
}
SONDE_MULTIVERSION bool factorise_and_invert(Matrix<double> a, Matrix<double> inverse, double* work) {
  return run(a, inverse, work);
}

}  // namespace sonde::dense::cpu
