// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "sonde/engine/device/stream.h"
#include "sonde/engine/math/dense/cholesky.h"

namespace sonde::dense {

/// A matrix of each of many problems, in the memory of one device: (problem, row, column), row after row. With a stride
/// of zero between problems it is the same one for all.
using Batch = View<double, 3>;
using ConstBatch = View<const double, 3>;

/// A number of each problem and each row or column; strides are zero where it does not depend on one of them. Without
/// data: one.
using Factors = View<const double, 2>;

/// A matrix that all problems share.
[[nodiscard]] inline ConstBatch shared(ConstMatrix<double> of, Index problems) {
  ConstBatch made(of.data, problems, of.extent[0], of.extent[1]);
  made.stride[0] = 0;
  made.stride[1] = of.stride[0];
  return made;
}

/// Rows and columns of every matrix from (row, column) on.
template <class T>
[[nodiscard]] View<T, 3> part(View<T, 3> of, Index row, Index rows, Index column, Index columns) {
  of.data += row * of.stride[1] + column;
  of.extent[1] = rows;
  of.extent[2] = columns;
  return of;
}

template <class T>
[[nodiscard]] View<T, 3> transposed(View<T, 3> of) {
  std::swap(of.extent[1], of.extent[2]);
  std::swap(of.stride[1], of.stride[2]);
  return of;
}

/// Cholesky (cholesky.h) of every problem.
struct BatchedCholesky {
  Batch lower;     ///< (problem, n, n); the strictly upper triangles are not used
  Batch inverses;  ///< (problem, n, inverse_columns(n))
};

/// What products of float32 are computed in on a GPU: float32, or with factors rounded to TF32 (10 bits of the
/// fraction), for which it has faster units. The CPU takes float32 for both.
enum class FloatProducts { f32, tf32 };

/// Products and factors of matrices of some hundred rows for many problems at once. Nearly all operations are products,
/// by cuBLAS on a GPU and by blas.h on the CPU; what is left are kernels of our own, played by one thread on the CPU
/// (for tests). Everything is queued to one stream, and nothing is allocated after construction. Matrices without rows
/// or columns are allowed. The library is loaded with the first object on a GPU: a program that needs none starts
/// without its 0.1 s. The same bits in every run on one kind of device.
class BatchedAlgebra {
 public:
  /// Throws Error(device) where cuBLAS is missing or refuses.
  explicit BatchedAlgebra(Device device, FloatProducts float_products = FloatProducts::f32);
  BatchedAlgebra(const BatchedAlgebra&) = delete;
  BatchedAlgebra& operator=(const BatchedAlgebra&) = delete;
  /// Waits for the device.
  ~BatchedAlgebra();

  [[nodiscard]] Stream& stream();
  /// What it holds on the device besides the matrices.
  [[nodiscard]] static std::size_t bytes(Device device);

  /// c = alpha op(a) op(b) + beta c. c is not read where beta is 0.
  void multiply(double alpha, ConstBatch a, Form form_a, ConstBatch b, Form form_b, double beta, Batch c);
  void multiply(float alpha, View<const float, 3> a, Form form_a, View<const float, 3> b, Form form_b, float beta,
                View<float, 3> c);
  /// to(p, i, j) = alpha factors(p, j) from(p, i, j) + beta to(p, i, j), of any strides. What goes with alpha or beta
  /// is not read where that is 0.
  void combine(double alpha, Factors factors, ConstBatch from, double beta, Batch to);
  /// to(p, i, j) += alpha values(p, m) on the diagonal i - j = offset, m = min(i, j).
  void add_to_diagonal(double alpha, Factors values, Index offset, Batch to);

  /// The factor of every matrix in `factor.lower`. `scratch`: (problem, n, inverse_columns(n)). `failed(p)` becomes
  /// `mark` where the matrix is not positive definite or not finite, unless it is zero or more already; such a factor
  /// is not finite.
  void factorise(const BatchedCholesky& factor, Batch scratch, View<Index, 1> failed, Index mark);
  /// b = R^-1 b (plain) or R^-T b (transposed). `scratch`: (problem, inverse_columns(n), columns(b)).
  void solve_lower(const BatchedCholesky& factor, Form form, Batch b, Batch scratch);

 private:
  struct Products;  // the library on a GPU
  template <class T>
  void product(T alpha, View<const T, 3> a, Form form_a, View<const T, 3> b, Form form_b, T beta, View<T, 3> c);
  void solve_rows(const BatchedCholesky& factor, Form form, Index first, Index count, Batch b, Batch scratch);

  Stream stream_;
  std::unique_ptr<Products> products_;
};

}  // namespace sonde::dense
