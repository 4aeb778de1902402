// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "sonde/instruments/neoclassical/batch/batched_elimination.h"

namespace sonde::neoclassical {
namespace {

using dense::Batch;
using dense::BatchedCholesky;
using dense::Form;

struct SpdMatrices {
  SpdMatrices(const BatchShape& shape, BatchMemory& memory) {
    const Index size = shape.largest(), width = dense::inverse_columns(size);
    for (Batch* each : {&top, &y}) *each = memory.matrices(size, size);
    for (BatchedCholesky& each : levels) each = {memory.matrices(size, size), memory.matrices(size, width)};
    scratch = memory.matrices(std::max(size, BatchShape::drives), width);
  }
  Batch top, y, scratch;
  std::array<BatchedCholesky, 4> levels;  // of k = 0, 1, 2 and of all above
};

/// Delta_k = c_k + L_{k+1}^T Delta_{k+1}^-1 L_{k+1}.
class SpdBatch final : public BatchedElimination {
 public:
  SpdBatch(const BatchOperators& operators, BatchMemory& memory)
      : operators_(operators), algebra_(operators.algebra()), m_(operators.shape(), memory) {}

  void eliminate(const BatchCases& at, Index n_xi, View<Index, 1> failed) override {
    Batch block = level(n_xi).lower;
    algebra_.combine(0, {}, {}, 0, block);
    operators_.add_collisions(n_xi, at, block);
    for (Index k = n_xi;; --k) {
      if (k == 2) algebra_.combine(1, {}, block, 0, top());
      algebra_.factorise(level(k), shaped(m_.scratch, count(k), width(k)), failed, k);
      if (k == 0) return;
      const Batch y = shaped(m_.y, count(k), count(k - 1));
      operators_.fill_lower(k, Functions::driven, y);
      algebra_.solve_lower(level(k), Form::plain, y, shaped(m_.scratch, width(k), y.extent[2]));
      block = level(k - 1).lower;
      algebra_.multiply(1, y, Form::transposed, y, Form::plain, 0, block);
      operators_.add_collisions(k - 1, at, block);
      if (k == 1) operators_.pin(Functions::driven, block);
    }
  }

  void solve(Index k, ConstBatchParts b, BatchParts x) override {
    algebra_.combine(1, {}, b.driven, 0, x.driven);
    for (const Form form : {Form::plain, Form::transposed})
      algebra_.solve_lower(level(k), form, x.driven, shaped(m_.scratch, width(k), BatchShape::drives));
  }

  void subtract_top(ConstBatchParts x, BatchParts y) override {
    algebra_.multiply(-1, top(), Form::plain, x.driven, Form::plain, 1, y.driven);
  }

 private:
  [[nodiscard]] Index count(Index k) const { return operators_.shape().count(k, Functions::driven); }
  [[nodiscard]] Index width(Index k) const { return dense::inverse_columns(count(k)); }
  [[nodiscard]] Batch top() const { return shaped(m_.top, count(2), count(2)); }
  /// Delta_k, then its factor.
  [[nodiscard]] BatchedCholesky level(Index k) const {
    const BatchedCholesky& storage = m_.levels[static_cast<std::size_t>(std::min<Index>(k, 3))];
    return {shaped(storage.lower, count(k), count(k)), shaped(storage.inverses, count(k), width(k))};
  }

  const BatchOperators& operators_;
  dense::BatchedAlgebra& algebra_;
  SpdMatrices m_;
};

}  // namespace

std::unique_ptr<BatchedElimination> spd_batch(const BatchOperators& operators, BatchMemory& memory) {
  return std::make_unique<SpdBatch>(operators, memory);
}

void count_spd_batch(const BatchShape& shape, BatchMemory& memory) { (void)SpdMatrices(shape, memory); }

}  // namespace sonde::neoclassical
