// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/neoclassical/solve/elimination.h"
#include "sonde/instruments/neoclassical/solve/matrix_arena.h"

namespace sonde::neoclassical {
namespace {

constexpr Index matrices = 6;  // three factors, the block at work, Delta_2, Y

Index arena_elements(Index size) { return matrices * size * size + 2 * size * dense::inverse_columns(size) + 2 * size; }

class SpdElimination final : public Elimination {
 public:
  SpdElimination(const DriftKinetic& equation, const ParityBasis* basis, const ParityBlocks* blocks)
      : equation_(equation),
        basis_(basis),
        blocks_(blocks),
        largest_(blocks != nullptr ? blocks->even : equation.points()),
        arena_(arena_elements(largest_)) {
    for (dense::Matrix<double>* matrix : {&factors_[0], &factors_[1], &factors_[2], &work_, &top_, &y_})
      *matrix = arena_.matrix(largest_, largest_);
    inverses_ = arena_.matrix(largest_, dense::inverse_columns(largest_));
    const dense::Matrix<double> scratch = arena_.matrix(largest_, dense::inverse_columns(largest_));
    scratch_ = {scratch.data, static_cast<std::size_t>(scratch.count())};
    even_ = arena_.vector(largest_);
    odd_ = arena_.vector(largest_);
  }

  void eliminate(const Case& at, Index n_xi) override {
    set_diagonal(block(n_xi), DriftKinetic::collisions(at.nu_hat, n_xi));
    for (Index k = n_xi; k >= 0; --k) {
      const Index size = count(k);
      if (k == 2) copy<double>(block(2), shaped(top_, size, size));
      const dense::Cholesky<double> factor{block(k), shaped(inverses_, size, dense::inverse_columns(size))};
      if (!dense::factorise(factor, scratch_))
        throw Error(ErrorKind::not_converged,
                    fmt::format("the block of Legendre index {} is not positive definite at nu_hat = {}", k, at.nu_hat))
            .hint("path = \"dense\" solves without this property");
      if (k == 0) break;
      const dense::Matrix<double> y = shaped(y_, size, count(k - 1));
      fill_lower(k, y);
      dense::solve_lower(factor, y, scratch_);
      dense::multiply_symmetric(1, y, dense::Form::transposed, 0, block(k - 1));
      add_to_diagonal(block(k - 1), DriftKinetic::collisions(at.nu_hat, k - 1));
      if (k == 1 && blocks_ == nullptr) pin<double>(block(0), equation_.null_vector);  // v is even, at k = 0 not driven
    }
  }

  void solve(Index k, std::span<const double> b, std::span<double> x) override {
    const std::span<double> driven = to_basis(k, b);
    dense::solve_triangular(block(k), dense::Form::plain, driven);
    dense::solve_triangular(block(k), dense::Form::transposed, driven);
    from_basis(k, driven, x);
  }

  void multiply_top(std::span<const double> x, std::span<double> y) override {
    const std::span<double> driven = to_basis(2, x), product = std::span<double>(scratch_).first(driven.size());
    dense::multiply_symmetric(shaped(top_, count(2), count(2)), driven, product);
    from_basis(2, product, y);
  }

 private:
  [[nodiscard]] Index count(Index k) const {
    return blocks_ == nullptr ? equation_.points() : blocks_->count(driven_parity(k));
  }
  [[nodiscard]] dense::Matrix<double> block(Index k) const {
    return shaped(k <= 2 ? factors_[static_cast<std::size_t>(k)] : work_, count(k), count(k));
  }

  void fill_lower(Index k, dense::Matrix<double> to) const {
    const DriftKinetic::Factors factors = equation_.lower(k);
    if (blocks_ != nullptr) return fill_streaming(*blocks_, factors, driven_parity(k), to);
    set_diagonal(to, 0.0);
    const SparseRows& a = equation_.streaming;
    for (Index row = 0; row < a.rows(); ++row) {
      for (auto e = static_cast<std::size_t>(a.first[static_cast<std::size_t>(row)]);
           e < static_cast<std::size_t>(a.first[static_cast<std::size_t>(row) + 1]); ++e)
        to(row, a.column[e]) = factors.scale * a.value[e];
      to(row, row) += factors.scale * factors.shift * equation_.mirror[static_cast<std::size_t>(row)];
    }
  }

  std::span<double> to_basis(Index k, std::span<const double> on_grid) {
    if (blocks_ == nullptr) {
      std::copy(on_grid.begin(), on_grid.end(), even_.begin());
      return even_;
    }
    basis_->split(on_grid, even_, odd_);
    return (driven_parity(k) == Parity::even ? even_ : odd_).first(static_cast<std::size_t>(count(k)));
  }
  void from_basis(Index k, std::span<const double> driven, std::span<double> on_grid) {
    if (blocks_ == nullptr) {
      std::copy(driven.begin(), driven.end(), on_grid.begin());
      return;
    }
    // What is not driven is zero.
    const bool is_even = driven_parity(k) == Parity::even;
    const std::span<double> zero = is_even ? odd_ : even_;
    std::fill(zero.begin(), zero.end(), 0.0);
    is_even ? basis_->join(driven, zero, on_grid) : basis_->join(zero, driven, on_grid);
  }

  const DriftKinetic& equation_;
  const ParityBasis* basis_;
  const ParityBlocks* blocks_;
  Index largest_;
  MatrixArena<double> arena_;
  std::array<dense::Matrix<double>, 3> factors_;
  dense::Matrix<double> work_, top_, y_, inverses_;
  std::span<double> scratch_, even_, odd_;
};

}  // namespace

std::unique_ptr<Elimination> spd_elimination(const DriftKinetic& equation, const ParityBasis* basis,
                                             const ParityBlocks* blocks) {
  return std::make_unique<SpdElimination>(equation, basis, blocks);
}

std::size_t spd_elimination_bytes(Index points, bool parity) {
  return static_cast<std::size_t>(arena_elements(parity ? (points + 1) / 2 : points)) * sizeof(double);
}

}  // namespace sonde::neoclassical
