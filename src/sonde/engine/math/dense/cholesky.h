// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "sonde/engine/math/dense/blas.h"

namespace sonde::dense {

/// Rows of a block on the diagonal, at most. Measured at 212 and 312 rows on one core (EPYC, 2 cores): 32 to 48 are
/// alike, 64 and more are slower by 10 % and 80 by 15 %, because a block's inverse is applied as a full matrix.
inline constexpr Index largest_block = 40;

/// The factor of a symmetric positive definite matrix with the inverses of its diagonal blocks, so that factorising and
/// solving are products of matrices but for a small part: 1.5 times the rate of the library's triangular solves at a
/// few hundred rows, and up to twice that of its factorisation. Memory is the caller's.
template <class T>
struct Cholesky {
  Matrix<T> lower;     ///< n x n; the strictly upper triangle is not used
  Matrix<T> inverses;  ///< n x inverse_columns(n): of each diagonal block, zeros above the diagonal
};

/// The columns of `inverses` for n rows.
[[nodiscard]] inline Index inverse_columns(Index n) { return n < largest_block ? n : largest_block; }

/// a = R R^T with a in `factor.lower` on entry (lower triangle) and R on return. n^3/3 flops. `scratch` holds
/// n inverse_columns(n) elements. False where a is not positive definite or not finite.
template <class T>
[[nodiscard]] bool factorise(const Cholesky<T>& factor, std::span<T> scratch);

/// b = R^-1 b. n^2 columns(b) flops. `scratch` holds inverse_columns(n) columns(b) elements.
template <class T>
void solve_lower(const Cholesky<T>& factor, Matrix<T> b, std::span<T> scratch);

/// Makes a factor ready for solve(), and for nothing else from then on: R^T takes the place above the diagonal blocks,
/// and their inverses, transposed, that of the blocks themselves, so that vectors are solved along rows both ways.
template <class T>
void prepare_solve(const Cholesky<T>& factor);

/// x = (R R^T)^-1 x of a factor that has been prepared. 2 n^2 flops: a third of the time of two triangular solves of
/// the library at 50 rows, since no element of a block waits for the one before.
template <class T>
void solve(const Cholesky<T>& factor, std::span<T> x);

}  // namespace sonde::dense
