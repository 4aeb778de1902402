// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde::maxwell {

struct Eigenpairs {
  std::vector<double> values;                ///< falling
  std::vector<std::vector<double>> vectors;  ///< of norm 1
};

/// A symmetric matrix that is not negative, by its product with a direction.
using SymmetricProduct = std::function<std::vector<double>(std::span<const double> direction)>;

/// The `rank` largest eigenvalues of a matrix of `count` rows and their vectors, from 2 (rank + 10) products with it,
/// or 2 count if that is less: the matrix on the range of its products with random directions (Halko, Martinsson and
/// Tropp 2011, SIAM Rev. 53, 217, algorithms 4.1 and 5.3). Exact where the matrix has no more eigenvalues than that,
/// and else never above the true ones. The same numbers in every run.
[[nodiscard]] Eigenpairs largest_eigenpairs(const SymmetricProduct& product, Index count, Index rank);

}  // namespace sonde::maxwell
