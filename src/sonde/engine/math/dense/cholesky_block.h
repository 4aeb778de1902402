// SPDX-License-Identifier: Apache-2.0
// Private: blocks on the diagonal, where the library is slow.
#pragma once

#include "sonde/engine/math/dense/blas.h"

namespace sonde::dense::cpu {

/// a = R R^T in the lower triangle of a few dozen rows, and R^-1 with zeros above into `inverse`. `work` holds n^2
/// elements. False where a is not positive definite or not a number.
[[nodiscard]] bool factorise_and_invert(Matrix<float> a, Matrix<float> inverse, float* work);
[[nodiscard]] bool factorise_and_invert(Matrix<double> a, Matrix<double> inverse, double* work);

}  // namespace sonde::dense::cpu
