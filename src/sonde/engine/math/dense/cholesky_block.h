// SPDX-License-Identifier: Apache-2.0
// Private: blocks on the diagonal, where the library is slow.
#pragma once

#include "sonde/engine/math/dense/cholesky.h"

namespace sonde::dense {

/// Rows of each block of n: as equal as they can be.
[[nodiscard]] inline Index block_rows(Index n) {
  const Index blocks = (n + largest_block - 1) / largest_block;
  return blocks == 0 ? 0 : (n + blocks - 1) / blocks;
}

namespace cpu {

/// a = R R^T in the lower triangle of largest_block rows at most, and R^-1 with zeros above into `inverse`. False where
/// a is not positive definite or not a number.
[[nodiscard]] bool factorise_and_invert(Matrix<float> a, Matrix<float> inverse);
[[nodiscard]] bool factorise_and_invert(Matrix<double> a, Matrix<double> inverse);

/// x = (R R^T)^-1 x with what prepare_solve() has made of the factor and with its inverses.
void solve_vector(ConstMatrix<float> both, ConstMatrix<float> inverses, float* x);
void solve_vector(ConstMatrix<double> both, ConstMatrix<double> inverses, double* x);

}  // namespace cpu
}  // namespace sonde::dense
