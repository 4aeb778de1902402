// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <vector>

#include "sonde/instruments/neoclassical/solve/assemble.h"
#include "sonde/instruments/neoclassical/solve/matrix_arena.h"
#include "sonde/instruments/neoclassical/solve/mixed_elimination.h"
#include "sonde/instruments/neoclassical/solve/precise_product.h"

namespace sonde::neoclassical {
namespace {

Index spd_arena_elements(Index size) { return 2 * size * size + 2 * size * dense::inverse_columns(size) + 2 * size; }

template <class T>
class SpdBlocks {
 public:
  SpdBlocks(const DriftKinetic* equation, const ParityBasis* basis, const ParityBlocks* blocks)
      : equation_(*equation),
        basis_(basis),
        blocks_(blocks),
        largest_(blocks != nullptr ? blocks->even : equation->points()),
        arena_(spd_arena_elements(largest_)),
        factors_(largest_ * largest_) {
    top_ = arena_.matrix(largest_, largest_);
    y_ = arena_.matrix(largest_, largest_);
    inverses_ = arena_.matrix(largest_, dense::inverse_columns(largest_));
    const dense::Matrix<T> scratch = arena_.matrix(largest_, dense::inverse_columns(largest_));
    scratch_ = {scratch.data, static_cast<std::size_t>(scratch.count())};
    even_ = arena_.vector(largest_);
    odd_ = arena_.vector(largest_);
    precise_.resize(static_cast<std::size_t>(largest_));
    for (auto& each : exact_) each.resize(static_cast<std::size_t>(largest_));
  }

  void begin(const Case& at, Index n_xi, Index kept) {
    factors_.reach(kept);
    set_diagonal(block(n_xi), collisions(at, n_xi));
  }

  template <class Other>
  void take(Index k, SpdBlocks<Other>& others) {
    factors_.reach(k);
    convert(others.block(k), block(k));
  }

  Index descend(const Case& at, Index first, double worst, const BlockStep& step) {
    for (Index k = first; k >= 0; --k) {
      step();
      const Index size = count(k);
      if (k == 2) copy<T>(block(2), shaped(top_, size, size));
      const dense::Cholesky<T> factor{block(k), shaped(inverses_, size, dense::inverse_columns(size))};
      if (!dense::factorise(factor, scratch_)) throw not_positive_definite(equation_, k, at);
      if (k == 0) break;
      const bool well = condition(block(k)) <= worst;
      const dense::Matrix<T> y = shaped(y_, size, count(k - 1));
      fill_lower(k, y);
      dense::solve_lower(factor, y, scratch_);
      dense::multiply_symmetric(T{1}, y, dense::Form::transposed, T{0}, block(k - 1));
      add_to_diagonal(block(k - 1), collisions(at, k - 1));
      if (k == 1 && blocks_ == nullptr) pin<T>(block(0), equation_.null_vector);  // v is even, at k = 0 not driven
      if (k == 1) leave_out<T>(block(0), blocks_ == nullptr ? equation_.undamped : blocks_->undamped_odd);
      if (!well) return k - 1;
    }
    return -1;
  }

  void solve(Index k, std::span<const double> b, std::span<double> x) {
    const std::span<T> driven = to_basis(k, b);
    dense::solve_triangular(block(k), dense::Form::plain, driven);
    dense::solve_triangular(block(k), dense::Form::transposed, driven);
    from_basis(k, driven, x);
  }

  void multiply_top(std::span<const double> x, std::span<double> y) {
    const std::span<T> driven = to_basis(2, x), product = std::span<T>(scratch_).first(driven.size());
    dense::multiply_symmetric(shaped(top_, count(2), count(2)), driven, product);
    from_basis(2, product, y);
  }

  void multiply_top(std::span<const double> x, std::span<long double> y) {
    if (blocks_ == nullptr) {
      std::copy(x.begin(), x.end(), precise_.begin());
      std::fill(y.begin(), y.end(), 0.0L);
      return add_symmetric_product<T, long double>(shaped(top_, count(2), count(2)), precise_, y);
    }
    // Driven functions are odd at k = 2. Delta_2 reaches 1 / nu_hat, and a solution that it makes small meets it: more
    // digits than a long double has. Twice an odd function is exact, so both factors 1 / sqrt 2 are left to the end.
    const auto size = static_cast<std::size_t>(count(2));
    const std::span<Quad> odd = std::span(exact_[0]).first(size), product = std::span(exact_[1]).first(size);
    for (std::size_t i = 0; i < size; ++i) {
      const auto [point, image] = basis_->pairs()[i];
      odd[i] = Quad{x[static_cast<std::size_t>(point)]} - x[static_cast<std::size_t>(image)];
    }
    std::fill(product.begin(), product.end(), Quad{0});
    add_symmetric_product<T, Quad>(shaped(top_, count(2), count(2)), odd, product);
    y[0] = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const auto [point, image] = basis_->pairs()[i];
      y[static_cast<std::size_t>(point)] = static_cast<long double>(product[i] / 2);
      y[static_cast<std::size_t>(image)] = -y[static_cast<std::size_t>(point)];
    }
  }

  /// Delta_k, then its factor.
  [[nodiscard]] dense::Matrix<T> block(Index k) { return dense::Matrix<T>(factors_.at(k), count(k), count(k)); }

 private:
  [[nodiscard]] Index count(Index k) const {
    return blocks_ == nullptr ? equation_.points() : blocks_->count(driven_parity(k));
  }
  static T collisions(const Case& at, Index k) { return static_cast<T>(DriftKinetic::collisions(at.nu_hat, k)); }

  void fill_lower(Index k, dense::Matrix<T> to) const {
    const DriftKinetic::Factors factors = equation_.lower(k);
    if (blocks_ != nullptr) return fill_streaming(*blocks_, factors, driven_parity(k), to);
    set_diagonal(to, T{0});
    const SparseRows& a = equation_.streaming;
    for (Index row = 0; row < a.rows(); ++row) {
      for (auto e = static_cast<std::size_t>(a.first[static_cast<std::size_t>(row)]);
           e < static_cast<std::size_t>(a.first[static_cast<std::size_t>(row) + 1]); ++e)
        to(row, a.column[e]) = static_cast<T>(factors.scale * a.value[e]);
      to(row, row) += static_cast<T>(factors.scale * factors.shift * equation_.mirror[static_cast<std::size_t>(row)]);
    }
  }

  std::span<T> to_basis(Index k, std::span<const double> on_grid) {
    if (blocks_ == nullptr) {
      convert(on_grid, even_);
      return even_;
    }
    basis_->split(on_grid, even_, odd_);
    return (driven_parity(k) == Parity::even ? even_ : odd_).first(static_cast<std::size_t>(count(k)));
  }
  void from_basis(Index k, std::span<const T> driven, std::span<double> on_grid) {
    if (blocks_ == nullptr) {
      convert(driven, on_grid);
      return;
    }
    // What is not driven is zero.
    const bool is_even = driven_parity(k) == Parity::even;
    const std::span<T> zero = is_even ? odd_ : even_;
    std::fill(zero.begin(), zero.end(), T{0});
    is_even ? basis_->join(driven, zero, on_grid) : basis_->join(zero, driven, on_grid);
  }

  const DriftKinetic& equation_;
  const ParityBasis* basis_;
  const ParityBlocks* blocks_;
  Index largest_;
  MatrixArena<T> arena_;
  LegendreStorage<T> factors_;
  dense::Matrix<T> top_, y_, inverses_;
  std::span<T> scratch_, even_, odd_;
  std::vector<long double> precise_;
  std::array<std::vector<Quad>, 2> exact_;
};

}  // namespace

std::unique_ptr<Elimination> spd_elimination(const DriftKinetic& equation, const ParityBasis* basis,
                                             const ParityBlocks* blocks) {
  return std::make_unique<MixedElimination<SpdBlocks>>(&equation, basis, blocks);
}

std::size_t spd_elimination_bytes(const Extent& extent, bool parity) {
  const Index size = parity ? (extent.points + 1) / 2 : extent.points;
  return mixed_bytes(extent, spd_arena_elements(size), size * size) + 3 * static_cast<std::size_t>(size) * sizeof(Quad);
}

}  // namespace sonde::neoclassical
