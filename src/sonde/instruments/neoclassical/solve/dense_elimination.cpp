// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/neoclassical/solve/elimination.h"
#include "sonde/instruments/neoclassical/solve/matrix_arena.h"

namespace sonde::neoclassical {
namespace {

/// Delta_0 of a rational surface is singular to all that float64 can tell below this reciprocal condition.
constexpr double singular = 1e-13;

constexpr Index matrices = 8;  // three factors, the block at work, Delta_2, U, L and its solution, A

class DenseElimination final : public Elimination {
 public:
  explicit DenseElimination(const DriftKinetic& equation)
      : equation_(equation),
        arena_(matrices * equation.points() * equation.points() + 4 * equation.points()),
        counts_(static_cast<std::size_t>(5 * equation.points())),
        resonant_(resonance(equation.iota, equation.grid)) {
    const Index n = equation.points();
    for (dense::Matrix<double>* matrix :
         {&factors_[0], &factors_[1], &factors_[2], &work_, &top_, &upper_, &solution_, &streaming_})
      *matrix = arena_.matrix(n, n);
    condition_work_ = arena_.vector(4 * n);
    set_diagonal(streaming_, 0.0);
    for (Index row = 0; row < n; ++row)
      for (Index at = equation.streaming.first[static_cast<std::size_t>(row)];
           at < equation.streaming.first[static_cast<std::size_t>(row) + 1]; ++at)
        streaming_(row, equation.streaming.column[static_cast<std::size_t>(at)]) =
            equation.streaming.value[static_cast<std::size_t>(at)];
  }

  void eliminate(const Case& at, Index n_xi) override {
    for (Index k = n_xi; k >= 0; --k) {
      const dense::Matrix<double> block = k <= 2 ? factors_[static_cast<std::size_t>(k)] : work_;
      fill_diagonal(k, at, block);
      if (k < n_xi) {  // `solution_` holds the columns of Delta_{k+1}^-1 L_{k+1} as rows
        fill_streaming(k, equation_.upper(k), upper_);
        dense::multiply(-1, upper_, dense::Form::plain, solution_, dense::Form::transposed, 1, block);
      }
      if (k == 0 && !equation_.null_vector.empty()) pin<double>(block, equation_.null_vector);
      if (k == 2) copy<double>(block, top_);
      const double norm = k == 0 ? dense::row_sum_norm(block) : 0;
      const bool regular = dense::factorise_lu(block, pivots(k));
      if (!regular || (k == 0 && resonant_ && ill_conditioned(block, norm))) fail(k, at);
      if (k == 0) break;
      fill_lower_transposed(k, solution_);
      dense::solve_lu(block, pivots(k), solution_);
    }
  }

  void solve(Index k, std::span<const double> b, std::span<double> x) override {
    std::copy(b.begin(), b.end(), x.begin());
    dense::solve_lu(factors_[static_cast<std::size_t>(k)], pivots(k),
                    dense::Matrix<double>(x.data(), 1, static_cast<Index>(x.size())));
  }

  void multiply_top(std::span<const double> x, std::span<double> y) override {
    dense::multiply(top_, dense::Form::plain, x, 0, y);
  }

 private:
  std::span<int> pivots(Index k) {
    const auto n = static_cast<std::size_t>(equation_.points());
    return std::span<int>(counts_).subspan(static_cast<std::size_t>(std::min<Index>(k, 3)) * n, n);
  }

  bool ill_conditioned(dense::ConstMatrix<double> factors, double norm) {
    const auto n = static_cast<std::size_t>(equation_.points());
    return !(dense::reciprocal_condition(factors, norm, condition_work_, std::span<int>(counts_).subspan(4 * n, n)) >=
             singular);
  }

  [[noreturn]] void fail(Index k, const Case& at) const {
    if (k == 0 && resonant_) {
      const std::string mode = fmt::format("resonant ({},{}): iota m + n N_fp = 0 for this mode of the grid, iota = {}",
                                           resonant_->m, resonant_->n, equation_.iota);
      if (equation_.discretisation == Discretisation::collocation)
        throw Error(ErrorKind::not_converged, mode).hint("use `skew`, or another grid");
      // `skew` gives the mode a small eigenvalue, which rounding hides beside those that grow as 1 / nu_hat.
      throw Error(
          ErrorKind::not_converged,
          fmt::format("{}, and collisions are too rare for this to be solved (nu_hat = {:.3g})", mode, at.nu_hat))
          .hint("a larger nu_hat, another radius, or a grid without this mode");
    }
    throw Error(ErrorKind::not_converged, fmt::format("the block of Legendre index {} is singular", k));
  }

  /// a (A + b diag(g)).
  void fill_streaming(Index k, DriftKinetic::Factors factors, dense::Matrix<double> to) const {
    const Index n = equation_.points();
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) to(i, j) = factors.scale * streaming_(i, j);
      to(i, i) += factors.scale * factors.shift * equation_.mirror[static_cast<std::size_t>(i)];
    }
    if (equation_.pinned(k)) std::fill_n(to.data, n, 0.0);
  }

  void fill_lower_transposed(Index k, dense::Matrix<double> to) const {
    const auto [scale, shift] = equation_.lower(k);
    copy_transposed<double>(streaming_, to);
    for (Index i = 0; i < equation_.points(); ++i) {
      for (Index j = 0; j < equation_.points(); ++j) to(i, j) *= scale;
      to(i, i) += scale * shift * equation_.mirror[static_cast<std::size_t>(i)];
    }
  }

  void fill_diagonal(Index k, const Case& at, dense::Matrix<double> to) {
    set_diagonal(to, DriftKinetic::collisions(at.nu_hat, k));
    const Index n = equation_.points();
    if (at.epsi_hat != 0) {
      const SparseRows& drift = equation_.drift;
      for (Index row = 0; row < n; ++row)
        for (auto e = static_cast<std::size_t>(drift.first[static_cast<std::size_t>(row)]);
             e < static_cast<std::size_t>(drift.first[static_cast<std::size_t>(row) + 1]); ++e)
          to(row, drift.column[e]) += at.epsi_hat * drift.value[e];
      const std::vector<double>&v = equation_.null_vector, &w = equation_.drift_of_null;
      if (!v.empty())
        for (Index i = 0; i < n; ++i)
          for (Index j = 0; j < n; ++j) {
            const auto a = static_cast<std::size_t>(i), b = static_cast<std::size_t>(j);
            to(i, j) += at.epsi_hat * (v[a] * w[b] - w[a] * v[b]);
          }
    }
    if (equation_.pinned(k)) {
      std::fill_n(to.data, n, 0.0);
      to(0, 0) = 1;
    }
  }

  const DriftKinetic& equation_;
  MatrixArena<double> arena_;
  std::vector<int> counts_;
  std::optional<Mode> resonant_;  // of a rational surface
  std::array<dense::Matrix<double>, 3> factors_;
  dense::Matrix<double> work_, top_, upper_, solution_, streaming_;
  std::span<double> condition_work_;
};

}  // namespace

std::unique_ptr<Elimination> dense_elimination(const DriftKinetic& equation) {
  return std::make_unique<DenseElimination>(equation);
}

std::size_t dense_elimination_bytes(Index points) {
  return static_cast<std::size_t>(matrices * points * points + 8 * points) * sizeof(double);
}

}  // namespace sonde::neoclassical
