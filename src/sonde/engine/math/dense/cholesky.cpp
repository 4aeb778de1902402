// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/dense/cholesky.h"

#include <algorithm>
#include <cassert>

namespace sonde::dense {
namespace {

template <class T>
View<T, 2> part(View<T, 2> a, Index row, Index rows, Index column, Index columns) {
  View<T, 2> cut = a;
  cut.data = a.data + row * a.stride[0] + column;
  cut.extent[0] = rows;
  cut.extent[1] = columns;
  return cut;
}

template <class T>
void copy(ConstMatrix<T> from, Matrix<T> to) {
  for (Index i = 0; i < from.extent[0]; ++i)
    std::copy_n(from.data + i * from.stride[0], from.extent[1], to.data + i * to.stride[0]);
}

/// The inverse of the lower triangle `block` into `inverse`.
template <class T>
void invert_block(ConstMatrix<T> block, Matrix<T> inverse) {
  for (Index i = 0; i < block.extent[0]; ++i) {
    T* row = inverse.data + i * inverse.stride[0];
    std::copy_n(block.data + i * block.stride[0], i + 1, row);
    std::fill(row + i + 1, row + inverse.extent[1], T{0});
  }
  invert_triangular(inverse);
}

}  // namespace

template <class T>
bool factorise(const Cholesky<T>& factor, std::span<T> scratch) {
  const Matrix<T> a = factor.lower;
  const Index n = a.extent[0];
  assert(a.extent[1] == n && factor.inverses.extent[0] == n && factor.inverses.extent[1] == inverse_columns(n));
  assert(static_cast<Index>(scratch.size()) >= n * inverse_columns(n));
  for (Index first = 0; first < n; first += block_rows) {
    const Index size = std::min(block_rows, n - first), below = n - first - size;
    const Matrix<T> diagonal = part(a, first, size, first, size);
    if (!factorise_cholesky(diagonal)) return false;
    const Matrix<T> inverse = part(factor.inverses, first, size, 0, size);
    invert_block<T>(diagonal, inverse);
    if (below == 0) continue;
    const Matrix<T> panel = part(a, first + size, below, first, size), old(scratch.data(), below, size);
    copy<T>(panel, old);
    multiply(T{1}, old, Form::plain, inverse, Form::transposed, T{0}, panel);
    multiply_symmetric(T{-1}, panel, Form::plain, T{1}, part(a, first + size, below, first + size, below));
  }
  return true;
}

template <class T>
void solve_lower(const Cholesky<T>& factor, Matrix<T> b, std::span<T> scratch) {
  const Index n = b.extent[0], columns = b.extent[1];
  assert(factor.lower.extent[0] == n);
  assert(static_cast<Index>(scratch.size()) >= inverse_columns(n) * columns);
  for (Index first = 0; first < n; first += block_rows) {
    const Index size = std::min(block_rows, n - first);
    const Matrix<T> rows = part(b, first, size, 0, columns), old(scratch.data(), size, columns);
    if (first > 0)
      multiply(T{-1}, part(factor.lower, first, size, 0, first), Form::plain, part(b, 0, first, 0, columns),
               Form::plain, T{1}, rows);
    copy<T>(rows, old);
    multiply(T{1}, part(factor.inverses, first, size, 0, size), Form::plain, old, Form::plain, T{0}, rows);
  }
}

template <class T>
void solve(const Cholesky<T>& factor, std::span<T> x) {
  solve_triangular(factor.lower, Form::plain, x);
  solve_triangular(factor.lower, Form::transposed, x);
}

template bool factorise(const Cholesky<float>&, std::span<float>);
template bool factorise(const Cholesky<double>&, std::span<double>);
template void solve_lower(const Cholesky<float>&, Matrix<float>, std::span<float>);
template void solve_lower(const Cholesky<double>&, Matrix<double>, std::span<double>);
template void solve(const Cholesky<float>&, std::span<float>);
template void solve(const Cholesky<double>&, std::span<double>);

}  // namespace sonde::dense
