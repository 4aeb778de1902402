// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "sonde/engine/array/view.h"
#include "sonde/engine/base/index.h"

/// Dense matrices, row after row: View<T, 2> whose columns are neighbours (stride[1] == 1; rows may be apart). T is
/// float or double. On OpenBLAS with one thread per call, so that callers run one problem per worker of parallel_for:
/// the first call loads the library (10 ms; Error(not_supported) where it is not installed, Error(budget) where the
/// address space does not suffice) and sets that for the whole process. Nothing else here allocates. Matrices without
/// rows or columns are allowed. Extents are asserted.
namespace sonde::dense {

template <class T>
using Matrix = View<T, 2>;
template <class T>
using ConstMatrix = View<const T, 2>;

/// Name, version and processor of the library, by which the time of a product is decided.
[[nodiscard]] std::string library_version();

/// Whether a matrix of a product is taken as it is or transposed.
enum class Form { plain, transposed };

/// c = alpha op(a) op(b) + beta c: 2 rows(c) columns(c) inner flops. c is not read where beta is 0.
void multiply(double alpha, ConstMatrix<double> a, Form form_a, ConstMatrix<double> b, Form form_b, double beta,
              Matrix<double> c);
void multiply(float alpha, ConstMatrix<float> a, Form form_a, ConstMatrix<float> b, Form form_b, float beta,
              Matrix<float> c);

/// The lower triangle of c = alpha a^T a + beta c (Form::transposed) or alpha a a^T + beta c (Form::plain).
void multiply_symmetric(double alpha, ConstMatrix<double> a, Form form, double beta, Matrix<double> c);
void multiply_symmetric(float alpha, ConstMatrix<float> a, Form form, float beta, Matrix<float> c);

/// y = op(a) x + beta y.
void multiply(ConstMatrix<double> a, Form form, std::span<const double> x, double beta, std::span<double> y);
void multiply(ConstMatrix<float> a, Form form, std::span<const float> x, float beta, std::span<float> y);

/// y = a x of a symmetric matrix, whose lower triangle is read.
void multiply_symmetric(ConstMatrix<double> a, std::span<const double> x, std::span<double> y);
void multiply_symmetric(ConstMatrix<float> a, std::span<const float> x, std::span<float> y);

/// x = op(lower)^-1 x: forward (plain) or backward (transposed) substitution. `lower` may be column after column too
/// (stride[0] == 1).
void solve_triangular(ConstMatrix<double> lower, Form form, std::span<double> x);
void solve_triangular(ConstMatrix<float> lower, Form form, std::span<float> x);

/// The same for every column of b, as the library does it; solve_lower() of cholesky.h is faster.
void solve_triangular(ConstMatrix<double> lower, Matrix<double> b);
void solve_triangular(ConstMatrix<float> lower, Matrix<float> b);

/// a = R R^T by the library: R takes the lower triangle's place, the upper one is unchanged. False where a is not
/// positive definite.
[[nodiscard]] bool factorise_cholesky(Matrix<double> a);
[[nodiscard]] bool factorise_cholesky(Matrix<float> a);

/// a = P L U in place, with row exchanges in `pivots` (one per row). False where a is singular to the last bit.
[[nodiscard]] bool factorise_lu(Matrix<double> a, std::span<int> pivots);
[[nodiscard]] bool factorise_lu(Matrix<float> a, std::span<int> pivots);
/// x = a^-1 x for every row of `rows`: each is a right side of its own.
void solve_lu(ConstMatrix<double> factors, std::span<const int> pivots, Matrix<double> rows);
void solve_lu(ConstMatrix<float> factors, std::span<const int> pivots, Matrix<float> rows);
/// 1 / (|a| |a^-1|) in the 1-norm, estimated from the factors and the norm of a. `work` holds 4 n, `counts` n.
[[nodiscard]] double reciprocal_condition(ConstMatrix<double> factors, double norm, std::span<double> work,
                                          std::span<int> counts);
/// The largest sum of magnitudes along a row (the norm that reciprocal_condition() asks for).
[[nodiscard]] double row_sum_norm(ConstMatrix<double> a);

}  // namespace sonde::dense
