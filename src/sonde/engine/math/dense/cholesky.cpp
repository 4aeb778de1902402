// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/dense/cholesky.h"

#include <algorithm>
#include <cassert>

#include "sonde/engine/math/dense/cholesky_block.h"

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

/// b = R^-1 b for the rows [first, first + count) of the factor and of b, whose rows above are done. By halves, so that
/// the products are as square as they can be.
template <class T>
void solve_rows(const Cholesky<T>& factor, Index first, Index count, Matrix<T> b, std::span<T> scratch) {
  const Index columns = b.extent[1], block = block_rows(factor.lower.extent[0]);
  if (count <= block) {
    const Matrix<T> rows = part(b, first, count, 0, columns), old(scratch.data(), count, columns);
    copy<T>(rows, old);
    multiply(T{1}, part(factor.inverses, first, count, 0, count), Form::plain, old, Form::plain, T{0}, rows);
    return;
  }
  const Index blocks = (count + block - 1) / block, upper = blocks / 2 * block, lower = count - upper;
  solve_rows(factor, first, upper, b, scratch);
  multiply(T{-1}, part(factor.lower, first + upper, lower, first, upper), Form::plain,
           part(b, first, upper, 0, columns), Form::plain, T{1}, part(b, first + upper, lower, 0, columns));
  solve_rows(factor, first + upper, lower, b, scratch);
}

}  // namespace

template <class T>
bool factorise(const Cholesky<T>& factor, std::span<T> scratch) {
  const Matrix<T> a = factor.lower;
  const Index n = a.extent[0];
  assert(a.extent[1] == n && factor.inverses.extent[0] == n && factor.inverses.extent[1] >= block_rows(n));
  assert(static_cast<Index>(scratch.size()) >= n * inverse_columns(n));
  const Index block = block_rows(n);
  for (Index first = 0; first < n; first += block) {
    const Index size = std::min(block, n - first), below = n - first - size;
    const Matrix<T> diagonal = part(a, first, size, first, size);
    const Matrix<T> inverse = part(factor.inverses, first, size, 0, size);
    if (!cpu::factorise_and_invert(diagonal, inverse)) return false;
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
  const Index n = b.extent[0];
  assert(factor.lower.extent[0] == n);
  assert(static_cast<Index>(scratch.size()) >= inverse_columns(n) * b.extent[1]);
  if (n > 0) solve_rows(factor, 0, n, b, scratch);
}

template <class T>
void prepare_solve(const Cholesky<T>& factor) {
  const Matrix<T> a = factor.lower;
  const Index n = a.extent[0], block = block_rows(n);
  for (Index first = 0; first < n; first += block) {
    const Index next = std::min(first + block, n);
    for (Index i = first; i < next; ++i)
      for (Index j = first; j < next; ++j) a(j, i) = factor.inverses(i, j - first);
    for (Index i = next; i < n; ++i)
      for (Index j = first; j < next; ++j) a(j, i) = a(i, j);
  }
}

template <class T>
void solve(const Cholesky<T>& factor, std::span<T> x) {
  assert(static_cast<Index>(x.size()) == factor.lower.extent[0]);
  cpu::solve_vector(factor.lower, factor.inverses, x.data());
}

template bool factorise(const Cholesky<float>&, std::span<float>);
template bool factorise(const Cholesky<double>&, std::span<double>);
template void solve_lower(const Cholesky<float>&, Matrix<float>, std::span<float>);
template void solve_lower(const Cholesky<double>&, Matrix<double>, std::span<double>);
template void prepare_solve(const Cholesky<float>&);
template void prepare_solve(const Cholesky<double>&);
template void solve(const Cholesky<float>&, std::span<float>);
template void solve(const Cholesky<double>&, std::span<double>);

}  // namespace sonde::dense
