// SPDX-License-Identifier: Apache-2.0
// Private to the room: the Cholesky paths of neoclassical/solve (elimination.h) for many cases at once, with operations
// only on batches.
#pragma once

#include <memory>

#include "sonde/instruments/neoclassical/batch/batch_operators.h"

namespace sonde::neoclassical {

/// Driven functions and the others of one Legendre index, (problem, row, drive). `spd` has no others.
struct BatchParts {
  dense::Batch driven, others;
};
struct ConstBatchParts {
  dense::ConstBatch driven, others;
};

/// All is queued to the stream of the algebra; nothing waits, and nothing is allocated.
class BatchedElimination {
 public:
  BatchedElimination() = default;
  BatchedElimination(const BatchedElimination&) = delete;
  BatchedElimination& operator=(const BatchedElimination&) = delete;
  virtual ~BatchedElimination() = default;

  /// Delta_k from k = n_xi >= 2 down to 0, of which those of k <= 2 are kept. `failed` receives the Legendre index of a
  /// block that is not positive definite, for each problem.
  virtual void eliminate(const BatchCases& at, Index n_xi, View<Index, 1> failed) = 0;
  /// x = Delta_k^-1 b, k = 0, 1, 2.
  virtual void solve(Index k, ConstBatchParts b, BatchParts x) = 0;
  /// y -= Delta_2 x.
  virtual void subtract_top(ConstBatchParts x, BatchParts y) = 0;
};

/// In memory that is taken from `memory`.
std::unique_ptr<BatchedElimination> spd_batch(const BatchOperators& operators, BatchMemory& memory);
std::unique_ptr<BatchedElimination> quasidefinite_batch(const BatchOperators& operators, BatchMemory& memory);
/// Takes the same.
void count_spd_batch(const BatchShape& shape, BatchMemory& memory);
void count_quasidefinite_batch(const BatchShape& shape, BatchMemory& memory);

}  // namespace sonde::neoclassical
