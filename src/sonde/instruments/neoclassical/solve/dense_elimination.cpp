// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "sonde/instruments/neoclassical/solve/assemble.h"
#include "sonde/instruments/neoclassical/solve/matrix_arena.h"
#include "sonde/instruments/neoclassical/solve/mixed_elimination.h"
#include "sonde/instruments/neoclassical/solve/precise_product.h"

namespace sonde::neoclassical {
namespace {

/// Delta_0 of a rational surface is singular to all that float64 can tell below this reciprocal condition.
constexpr double regular = 1e-13;

constexpr Index dense_matrices = 4;  // Delta_2, U, L and its solution, A

Index dense_arena_elements(Index points) { return dense_matrices * points * points + 4 * points; }

template <class T>
class DenseBlocks {
 public:
  explicit DenseBlocks(const DriftKinetic* equation)
      : equation_(*equation),
        arena_(dense_arena_elements(equation->points())),
        factors_(equation->points() * equation->points()),
        pivots_(equation->points()),
        counts_(static_cast<std::size_t>(equation->points())),
        resonant_(resonance(equation->iota, equation->grid).has_value()) {
    const Index n = equation->points();
    for (dense::Matrix<T>* matrix : {&top_, &upper_, &solution_, &streaming_}) *matrix = arena_.matrix(n, n);
    work_ = arena_.vector(4 * n);
    precise_.resize(static_cast<std::size_t>(n));
    set_diagonal(streaming_, T{0});
    const SparseRows& a = equation->streaming;
    for (Index row = 0; row < n; ++row)
      for (auto e = static_cast<std::size_t>(a.first[static_cast<std::size_t>(row)]);
           e < static_cast<std::size_t>(a.first[static_cast<std::size_t>(row) + 1]); ++e)
        streaming_(row, a.column[e]) = static_cast<T>(a.value[e]);
  }

  void begin(const Case& at, Index n_xi, Index kept) {
    factors_.reach(kept);
    pivots_.reach(kept);
    fill_diagonal(n_xi, at, block(n_xi));
  }

  template <class Other>
  void take(Index k, DenseBlocks<Other>& others) {
    factors_.reach(k);
    pivots_.reach(k);
    convert(others.block(k), block(k));
  }

  Index descend(const Case& at, Index first, double worst, const BlockStep& step) {
    for (Index k = first; k >= 0; --k) {
      step();
      if (k == 2) copy<T>(block(2), top_);
      if (!factorised(k, at)) throw singular(equation_, k, at);
      if (k == 0) break;
      const bool well = condition(block(k)) <= worst * worst;  // pivots, not their roots
      fill_lower_transposed(k, solution_);
      dense::solve_lu(block(k), pivots(k), solution_);  // the columns of Delta_k^-1 L_k as rows
      fill_diagonal(k - 1, at, block(k - 1));
      fill_streaming(k - 1, equation_.upper(k - 1), upper_);
      dense::multiply(T{-1}, upper_, dense::Form::plain, solution_, dense::Form::transposed, T{1}, block(k - 1));
      if (k == 1 && !equation_.null_vector.empty()) pin<T>(block(0), equation_.null_vector);
      if (k == 1) leave_out<T>(block(0), equation_.left_out(at));
      if (!well) return k - 1;
    }
    return -1;
  }

  void solve(Index k, std::span<const double> b, std::span<double> x) {
    const std::span<T> y = work_.first(b.size());
    convert(b, y);
    dense::solve_lu(block(k), pivots(k), dense::Matrix<T>(y.data(), 1, static_cast<Index>(y.size())));
    convert(y, x);
  }

  void multiply_top(std::span<const double> x, std::span<double> y) {
    const std::span<T> from = work_.first(x.size()), to = work_.subspan(x.size(), x.size());
    convert(x, from);
    dense::multiply(top_, dense::Form::plain, from, 0, to);
    convert(to, y);
  }

  void multiply_top(std::span<const double> x, std::span<long double> y) {
    std::copy(x.begin(), x.end(), precise_.begin());
    std::fill(y.begin(), y.end(), 0.0L);
    add_product(1, top_, dense::Form::plain, precise_, y);
  }

  /// Delta_k, then its factors.
  [[nodiscard]] dense::Matrix<T> block(Index k) {
    return dense::Matrix<T>(factors_.at(k), equation_.points(), equation_.points());
  }

 private:
  std::span<int> pivots(Index k) { return {pivots_.at(k), static_cast<std::size_t>(equation_.points())}; }

  /// Whether Delta_k is regular; in float64 also whether the last one of a rational surface is.
  bool factorised(Index k, const Case& at) {
    if constexpr (std::is_same_v<T, double>)
      if (k == 0 && resonant_ && equation_.left_out(at).empty()) {
        const double norm = dense::row_sum_norm(block(0));
        return dense::factorise_lu(block(0), pivots(0)) &&
               dense::reciprocal_condition(block(0), norm, work_, counts_) >= regular;
      }
    return dense::factorise_lu(block(k), pivots(k));
  }

  /// a (A + b diag(g)).
  void fill_streaming(Index k, DriftKinetic::Factors factors, dense::Matrix<T> to) const {
    const Index n = equation_.points();
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) to(i, j) = static_cast<T>(factors.scale) * streaming_(i, j);
      to(i, i) += static_cast<T>(factors.scale * factors.shift * equation_.mirror[static_cast<std::size_t>(i)]);
    }
    if (equation_.pinned(k)) std::fill_n(to.data, n, T{0});
  }

  void fill_lower_transposed(Index k, dense::Matrix<T> to) const {
    const auto [scale, shift] = equation_.lower(k);
    copy_transposed<T>(streaming_, to);
    for (Index i = 0; i < equation_.points(); ++i) {
      for (Index j = 0; j < equation_.points(); ++j) to(i, j) *= static_cast<T>(scale);
      to(i, i) += static_cast<T>(scale * shift * equation_.mirror[static_cast<std::size_t>(i)]);
    }
  }

  void fill_diagonal(Index k, const Case& at, dense::Matrix<T> to) {
    set_diagonal(to, static_cast<T>(DriftKinetic::collisions(at.nu_hat, k)));
    const Index n = equation_.points();
    if (at.epsi_hat != 0) {
      const SparseRows& drift = equation_.drift;
      for (Index row = 0; row < n; ++row)
        for (auto e = static_cast<std::size_t>(drift.first[static_cast<std::size_t>(row)]);
             e < static_cast<std::size_t>(drift.first[static_cast<std::size_t>(row) + 1]); ++e)
          to(row, drift.column[e]) += static_cast<T>(at.epsi_hat * drift.value[e]);
      const std::vector<double>&v = equation_.null_vector, &w = equation_.drift_of_null;
      if (!v.empty())
        for (Index i = 0; i < n; ++i)
          for (Index j = 0; j < n; ++j) {
            const auto a = static_cast<std::size_t>(i), b = static_cast<std::size_t>(j);
            to(i, j) += static_cast<T>(at.epsi_hat * (v[a] * w[b] - w[a] * v[b]));
          }
    }
    if (equation_.pinned(k)) {
      std::fill_n(to.data, n, T{0});
      to(0, 0) = 1;
    }
  }

  const DriftKinetic& equation_;
  MatrixArena<T> arena_;
  LegendreStorage<T> factors_;
  LegendreStorage<int> pivots_;
  std::vector<int> counts_;
  bool resonant_;  // a rational surface
  dense::Matrix<T> top_, upper_, solution_, streaming_;
  std::span<T> work_;
  std::vector<long double> precise_;
};

}  // namespace

std::unique_ptr<Elimination> dense_elimination(const DriftKinetic& equation) {
  return std::make_unique<MixedElimination<DenseBlocks>>(&equation);
}

std::size_t dense_elimination_bytes(const Extent& extent) {
  const Index n = extent.points;
  return mixed_bytes(extent, dense_arena_elements(n) + n, n * n + n) +  // with the row exchanges
         static_cast<std::size_t>(n) * sizeof(long double);
}

}  // namespace sonde::neoclassical
