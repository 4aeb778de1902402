// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "sonde/instruments/neoclassical/batch/batched_elimination.h"

namespace sonde::neoclassical {
namespace {

using dense::Batch;
using dense::BatchedCholesky;
using dense::Form;

/// Delta_k = [H K; -K^T G] with C1 = H + K G^-1 K^T and C2 = G + K^T H^-1 K (elimination.h): p driven functions, q
/// others; the four are factorised in place.
struct Block {
  BatchedCholesky h, g, c1, c2;
  Batch k;
};

struct QuasidefiniteMatrices {
  QuasidefiniteMatrices(const BatchShape& shape, BatchMemory& memory) {
    const Index size = shape.largest(), width = dense::inverse_columns(size);
    const auto square = [&] { return memory.matrices(size, size); };
    const auto cholesky = [&] { return BatchedCholesky{square(), memory.matrices(size, width)}; };
    for (Batch* each : {&top_h, &top_g, &top_k, &single, &z}) *each = square();
    for (Batch* each : {&first_pair, &second_pair}) *each = memory.matrices(size, 2 * size);
    for (Block& each : blocks) each = {cholesky(), cholesky(), cholesky(), cholesky(), square()};
    scratch = memory.matrices(2 * size, width);
    for (Batch* each : {&driven_work, &others_work}) *each = memory.matrices(size, BatchShape::drives);
  }
  Batch top_h, top_g, top_k, single, z, first_pair, second_pair, scratch, driven_work, others_work;
  std::array<Block, 4> blocks;  // of k = 0, 1, 2 and of all above
};

/// Always by sums of positive terms: where the coupling is weak a difference would be cheaper, but the way would then
/// differ from problem to problem.
class QuasidefiniteBatch final : public BatchedElimination {
 public:
  QuasidefiniteBatch(const BatchOperators& operators, BatchMemory& memory)
      : operators_(operators), algebra_(operators.algebra()), m_(operators.shape(), memory) {}

  void eliminate(const BatchCases& at, Index n_xi, View<Index, 1> failed) override {
    const Block first = block(n_xi);
    for (const Batch each : {first.h.lower, first.g.lower}) {
      algebra_.combine(0, {}, {}, 0, each);
      operators_.add_collisions(n_xi, at, each);
    }
    operators_.fill_drift(n_xi, at, first.k);
    for (Index k = n_xi; k > 0; --k) {
      if (k == 2) keep_top();
      descend(k, at, failed);
    }
    const Block last = block(0);
    begin_sums(last);
    factorise(0, last.h, failed);
    const Batch x1 = shaped(m_.single, driven(0), others(0));
    copy(last.k, x1);
    solve_lower(last.h, x1);
    finish_sums(0, last, x1, failed);
  }

  void solve(Index k, ConstBatchParts b, BatchParts x) override {
    // x_O = C1^-1 (b_O - K G^-1 b_E) and x_E = C2^-1 (b_E + K^T H^-1 b_O): neither takes large from large.
    const Block f = block(k);
    const Batch o_work = shaped(m_.driven_work, driven(k), BatchShape::drives),
                e_work = shaped(m_.others_work, others(k), BatchShape::drives);
    copy(b.driven, o_work);
    both_ways(f.h, o_work);
    copy(b.others, x.others);
    algebra_.multiply(1, f.k, Form::transposed, o_work, Form::plain, 1, x.others);
    both_ways(f.c2, x.others);
    copy(b.others, e_work);
    both_ways(f.g, e_work);
    copy(b.driven, x.driven);
    algebra_.multiply(-1, f.k, Form::plain, e_work, Form::plain, 1, x.driven);
    both_ways(f.c1, x.driven);
  }

  void subtract_top(ConstBatchParts x, BatchParts y) override {
    const Index p = driven(2), q = others(2);
    const Batch k = shaped(m_.top_k, p, q);
    algebra_.multiply(-1, shaped(m_.top_h, p, p), Form::plain, x.driven, Form::plain, 1, y.driven);
    algebra_.multiply(-1, k, Form::plain, x.others, Form::plain, 1, y.driven);
    algebra_.multiply(-1, shaped(m_.top_g, q, q), Form::plain, x.others, Form::plain, 1, y.others);
    algebra_.multiply(1, k, Form::transposed, x.driven, Form::plain, 1, y.others);
  }

 private:
  [[nodiscard]] Index driven(Index k) const { return operators_.shape().count(k, Functions::driven); }
  [[nodiscard]] Index others(Index k) const { return operators_.shape().count(k, Functions::others); }

  [[nodiscard]] Block block(Index k) const {
    const Block& storage = m_.blocks[static_cast<std::size_t>(std::min<Index>(k, 3))];
    const Index p = driven(k), q = others(k);
    const auto cut = [](const BatchedCholesky& of, Index n) {
      return BatchedCholesky{shaped(of.lower, n, n), shaped(of.inverses, n, dense::inverse_columns(n))};
    };
    return {cut(storage.h, p), cut(storage.g, q), cut(storage.c1, p), cut(storage.c2, q), shaped(storage.k, p, q)};
  }

  void copy(dense::ConstBatch from, Batch to) { algebra_.combine(1, {}, from, 0, to); }

  void keep_top() {
    const Block two = block(2);
    const Index p = driven(2), q = others(2);
    copy(two.h.lower, shaped(m_.top_h, p, p));
    copy(two.g.lower, shaped(m_.top_g, q, q));
    copy(two.k, shaped(m_.top_k, p, q));
  }

  void factorise(Index k, const BatchedCholesky& a, View<Index, 1> failed) {
    const Index n = a.lower.extent[1];
    algebra_.factorise(a, shaped(m_.scratch, n, dense::inverse_columns(n)), failed, k);
  }
  void solve_lower(const BatchedCholesky& factor, Batch b, Form form = Form::plain) {
    algebra_.solve_lower(factor, form, b, shaped(m_.scratch, dense::inverse_columns(b.extent[1]), b.extent[2]));
  }
  void both_ways(const BatchedCholesky& factor, Batch b) {
    solve_lower(factor, b);
    solve_lower(factor, b, Form::transposed);
  }

  void begin_sums(const Block& b) {
    copy(b.h.lower, b.c1.lower);
    copy(b.g.lower, b.c2.lower);
  }
  /// C1 and C2, factorised, and G with them; x1 = H^-1/2 K. Overwrites m_.single, in which x1 may lie.
  void finish_sums(Index k, const Block& b, Batch x1, View<Index, 1> failed) {
    algebra_.multiply(1, x1, Form::transposed, x1, Form::plain, 1, b.c2.lower);
    factorise(k, b.c2, failed);
    factorise(k, b.g, failed);
    const Batch x2 = shaped(m_.single, others(k), driven(k));
    copy(dense::transposed(dense::ConstBatch(b.k)), x2);
    solve_lower(b.g, x2);
    algebra_.multiply(1, x2, Form::transposed, x2, Form::plain, 1, b.c1.lower);
    factorise(k, b.c1, failed);
  }

  /// From Delta_k to Delta_{k-1}.
  void descend(Index k, const BatchCases& at, View<Index, 1> failed) {
    const Block b = block(k), next = block(k - 1);
    const Index p = driven(k), q = others(k);
    begin_sums(b);
    factorise(k, b.h, failed);
    // X1 = H^-1/2 K and Y3 = H^-1/2 L_O side by side.
    const Batch pair = shaped(m_.first_pair, p, 2 * q), x1 = dense::part(pair, 0, p, 0, q),
                y3 = dense::part(pair, 0, p, q, q);
    copy(b.k, x1);
    operators_.fill_lower(k, Functions::driven, y3);
    solve_lower(b.h, pair);
    finish_sums(k, b, x1, failed);
    // Y2 = C2^-1/2 L_E and X = C2^-1/2 X1^T side by side; Z = X Y3.
    const Batch other_pair = shaped(m_.second_pair, q, 2 * p), y2 = dense::part(other_pair, 0, q, 0, p),
                x = dense::part(other_pair, 0, q, p, p);
    operators_.fill_lower(k, Functions::others, y2);
    copy(dense::transposed(dense::ConstBatch(x1)), x);
    solve_lower(b.c2, other_pair);
    const Batch z = shaped(m_.z, q, q), y1 = shaped(m_.single, p, q);
    algebra_.multiply(1, x, Form::plain, y3, Form::plain, 0, z);
    operators_.fill_lower(k, Functions::driven, y1);
    solve_lower(b.c1, y1);
    // H' = Y1^T Y1 + c, G' = Y2^T Y2 + c, K' = E_hat X_OE - Z^T Y2.
    operators_.fill_drift(k - 1, at, next.k);
    algebra_.multiply(-1, z, Form::transposed, y2, Form::plain, 1, next.k);
    algebra_.multiply(1, y1, Form::transposed, y1, Form::plain, 0, next.h.lower);
    algebra_.multiply(1, y2, Form::transposed, y2, Form::plain, 0, next.g.lower);
    for (const Batch each : {next.h.lower, next.g.lower}) operators_.add_collisions(k - 1, at, each);
    if (k == 1) operators_.pin(Functions::others, next.g.lower);
  }

  const BatchOperators& operators_;
  dense::BatchedAlgebra& algebra_;
  QuasidefiniteMatrices m_;
};

}  // namespace

std::unique_ptr<BatchedElimination> quasidefinite_batch(const BatchOperators& operators, BatchMemory& memory) {
  return std::make_unique<QuasidefiniteBatch>(operators, memory);
}

void count_quasidefinite_batch(const BatchShape& shape, BatchMemory& memory) {
  (void)QuasidefiniteMatrices(shape, memory);
}

}  // namespace sonde::neoclassical
