// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "sonde/engine/device/multiversion.h"
#include "sonde/engine/math/dense/cholesky_block.h"

namespace sonde::dense::cpu {
namespace {

/// A register of the widest processors; on others the compiler takes several.
template <class T>
using Vector [[gnu::vector_size(64)]] = T;

template <class T>
inline constexpr Index lanes = 64 / static_cast<Index>(sizeof(T));

/// A row of so many vectors, in registers while it is made: what lies beside a triangle is computed with it and read by
/// nobody.
template <class T, Index count>
struct Row {
  Vector<T> parts[count];
  [[nodiscard]] T& operator[](Index i) { return reinterpret_cast<T*>(parts)[i]; }
};

/// Sum over j < last of factors[j * step] times row j. In two sums, since each addition waits for the one before.
template <class T, Index count>
[[gnu::always_inline]] inline Row<T, count> combined(const T* factors, Index step, const Row<T, count>* rows,
                                                     Index last) {
  Row<T, count> even{}, odd{};
  Index j = 0;
  for (; j + 2 <= last; j += 2)
    for (Index part = 0; part < count; ++part) {
      even.parts[part] += factors[j * step] * rows[j].parts[part];
      odd.parts[part] += factors[(j + 1) * step] * rows[j + 1].parts[part];
    }
  for (; j < last; ++j)
    for (Index part = 0; part < count; ++part) even.parts[part] += factors[j * step] * rows[j].parts[part];
  for (Index part = 0; part < count; ++part) even.parts[part] += odd.parts[part];
  return even;
}

/// The factor is made as its transpose, row after row, so that all loops run along rows.
template <class T, Index count>
[[gnu::always_inline]] inline bool run(Matrix<T> a, Matrix<T> inverse) {
  const Index n = a.extent[0];
  Row<T, count> u[largest_block], v[largest_block];
  T scale[largest_block];
  for (Index i = 0; i < n; ++i) u[i] = {};
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j) u[j][i] = a.data[i * a.stride[0] + j];
  constexpr Index step = count * lanes<T>;
  for (Index i = 0; i < n; ++i) {
    const Row<T, count> sum = combined(&u[0][i], step, u, i);
    const T pivot = u[i][i] - reinterpret_cast<const T*>(sum.parts)[i];
    if (!(pivot > 0)) return false;
    scale[i] = 1 / std::sqrt(pivot);
    for (Index part = 0; part < count; ++part) u[i].parts[part] = scale[i] * (u[i].parts[part] - sum.parts[part]);
  }
  for (Index i = 0; i < n; ++i) {  // (unit row i - sum over j < i of R_ij row j) / R_ii
    const Row<T, count> sum = combined(&u[0][i], step, v, i);
    for (Index part = 0; part < count; ++part) v[i].parts[part] = -scale[i] * sum.parts[part];
    v[i][i] = scale[i];
  }
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j <= i; ++j) a.data[i * a.stride[0] + j] = u[j][i];
    T* const row = inverse.data + i * inverse.stride[0];
    std::copy_n(&v[i][0], n, row);
    std::fill(row + n, row + inverse.extent[1], T{0});
  }
  return true;
}

/// With rows of as few vectors as n takes.
template <class T, Index count = 1>
[[gnu::always_inline]] inline bool run_in_fewest(Matrix<T> a, Matrix<T> inverse) {
  if constexpr (count * lanes<T> < largest_block)
    if (a.extent[0] > count * lanes<T>) return run_in_fewest<T, count + 1>(a, inverse);
  return run<T, count>(a, inverse);
}

/// to -= the sum of x_j times row j.
template <class T>
[[gnu::always_inline]] inline void subtract_rows(const T* x, Matrix<const T> rows, T* to) {
  const Index count = rows.extent[0], columns = rows.extent[1], step = rows.stride[0];
  Index j = 0;
  for (; j + 4 <= count; j += 4) {  // one pass over `to` for four
    const T f0 = x[j], f1 = x[j + 1], f2 = x[j + 2], f3 = x[j + 3];
    const T *const r0 = rows.data + j * step, *const r1 = r0 + step, *const r2 = r1 + step, *const r3 = r2 + step;
    for (Index i = 0; i < columns; ++i) to[i] -= (f0 * r0[i] + f1 * r1[i]) + (f2 * r2[i] + f3 * r3[i]);
  }
  for (; j < count; ++j)
    for (Index i = 0; i < columns; ++i) to[i] -= x[j] * rows.data[j * step + i];
}

/// x = M^T x of a block.
template <class T>
[[gnu::always_inline]] inline void multiply_block(Matrix<const T> m, T* x) {
  T negative[largest_block];
  const Index size = m.extent[0];
  for (Index i = 0; i < size; ++i) negative[i] = -x[i];
  std::fill_n(x, size, T{0});
  subtract_rows(negative, m, x);
}

template <class T>
[[gnu::always_inline]] inline void solve_both(Matrix<const T> both, Matrix<const T> inverses, Index block, T* x) {
  const Index n = both.extent[0];
  const auto part = [](Matrix<const T> of, Index row, Index rows, Index column, Index columns) {
    of.data += row * of.stride[0] + column;
    of.extent[0] = rows;
    of.extent[1] = columns;
    return of;
  };
  for (Index first = 0; first < n; first += block) {
    const Index size = std::min(block, n - first), next = first + size;
    multiply_block(part(both, first, size, first, size), x + first);
    subtract_rows(x + first, part(both, first, size, next, n - next), x + next);
  }
  for (Index next = n; next > 0;) {
    const Index first = (next - 1) / block * block, size = next - first;
    subtract_rows(x + next, part(both, next, n - next, first, size), x + first);
    multiply_block(part(inverses, first, size, 0, size), x + first);
    next = first;
  }
}

}  // namespace

SONDE_MULTIVERSION void solve_vector(ConstMatrix<float> both, ConstMatrix<float> inverses, float* x) {
  solve_both(both, inverses, block_rows(both.extent[0]), x);
}
SONDE_MULTIVERSION void solve_vector(ConstMatrix<double> both, ConstMatrix<double> inverses, double* x) {
  solve_both(both, inverses, block_rows(both.extent[0]), x);
}

SONDE_MULTIVERSION bool factorise_and_invert(Matrix<float> a, Matrix<float> inverse) {
  return run_in_fewest(a, inverse);
}
SONDE_MULTIVERSION bool factorise_and_invert(Matrix<double> a, Matrix<double> inverse) {
  return run_in_fewest(a, inverse);
}

}  // namespace sonde::dense::cpu
