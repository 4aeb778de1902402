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

/// a = R R^T in the lower triangle of a few dozen rows, and R^-1 with zeros above into `inverse`. `work` holds n^2
/// elements. False where a is not positive definite or not a number.
[[nodiscard]] bool factorise_and_invert(Matrix<float> a, Matrix<float> inverse, float* work);
[[nodiscard]] bool factorise_and_invert(Matrix<double> a, Matrix<double> inverse, double* work);

}  // namespace cpu
}  // namespace sonde::dense
