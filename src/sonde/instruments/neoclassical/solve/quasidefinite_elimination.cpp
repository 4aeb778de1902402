// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "sonde/instruments/neoclassical/solve/assemble.h"
#include "sonde/instruments/neoclassical/solve/matrix_arena.h"
#include "sonde/instruments/neoclassical/solve/mixed_elimination.h"
#include "sonde/instruments/neoclassical/solve/precise_product.h"

namespace sonde::neoclassical {
namespace {

/// Delta_k = [H K; -K^T G], and C1, C2; after factorising, the Cholesky factors of the four. p and q functions.
template <class T>
struct Block {
  dense::Matrix<T> h, g, k, c1, c2;
  dense::Matrix<T> of_h, of_g, of_c1, of_c2;  // inverses of the diagonal blocks

  [[nodiscard]] std::array<dense::Cholesky<T>, 4> factors() const {
    return {{{h, of_h}, {g, of_g}, {c1, of_c1}, {c2, of_c2}}};
  }
};

/// Delta_2, two pairs of solutions, one solution and Z.
constexpr Index matrices = 3 + 2 * 2 + 2;

Index arena_elements(Index size) { return matrices * size * size + 2 * size * dense::inverse_columns(size) + 8 * size; }
Index block_elements(Index size) { return 5 * size * size + 4 * size * dense::inverse_columns(size); }
Index kept_elements(Index size) { return 2 * size * size + size; }

/// What a solution needs of one index, where every index is kept: factors of H below the diagonal and of C2, transposed
/// and a column further, above it, and K.
template <class T>
struct Kept {
  dense::Matrix<T> h, c2, k;  // the rows of c2 are neighbours
};

template <class T>
class QuasidefiniteBlocks {
  using Matrix = dense::Matrix<T>;

 public:
  QuasidefiniteBlocks(const ParityBasis* basis, const ParityBlocks* blocks, const DriftKinetic* equation)
      : equation_(*equation),
        basis_(*basis),
        blocks_(*blocks),
        size_(blocks->even),
        arena_(arena_elements(size_)),
        storage_(block_elements(size_)),
        kept_(kept_elements(size_)) {
    for (Matrix* matrix : {&top_.h, &top_.g, &top_.k, &single_, &z_}) *matrix = arena_.matrix(size_, size_);
    for (Matrix* matrix : {&first_pair_, &second_pair_}) *matrix = arena_.matrix(size_, 2 * size_);
    const Matrix scratch = arena_.matrix(2 * size_, dense::inverse_columns(size_));
    scratch_ = {scratch.data, static_cast<std::size_t>(scratch.count())};
    for (std::span<T>& each : vectors_) each = arena_.vector(size_);
    for (auto& each : precise_) each.resize(static_cast<std::size_t>(size_));
  }

  void begin(const Case& at, Index n_xi, Index kept) {
    // The three that float64 needs are there as they are.
    keeps_all_ = kept == n_xi;
    reach(keeps_all_ ? -1 : kept, keeps_all_ ? kept : -1);
    const Block<T> first = block(n_xi);
    set_diagonal(first.h, collisions(at, n_xi));
    set_diagonal(first.g, collisions(at, n_xi));
    fill_drift(n_xi, at.epsi_hat, first.k);
    weak_ = true;
    for (Index i = 0; i < size_; ++i) vectors_[6][static_cast<std::size_t>(i)] = std::cos(static_cast<T>(i * i));
  }

  template <class Other>
  void take(Index k, QuasidefiniteBlocks<Other>& others) {
    keeps_all_ = true;
    reach(-1, k);
    const Block<Other> from = others.block(k);
    const Block<T> to = block(k);
    convert(from.h, to.h);
    convert(from.g, to.g);
    convert(from.k, to.k);
    weak_ = others.weak();
    convert(others.largest_vector(), vectors_[6]);
  }

  Index descend(const Case& at, Index first, double worst, const BlockStep& step) {
    for (Index k = first; k >= 0; --k) {
      step();
      if (k == 2) keep_top();
      worst_ = 1;
      factorise_and_descend(k, at);
      if (k <= 2 && !keeps_all_)
        for (const dense::Cholesky<T>& each : block(k).factors()) dense::prepare_solve(each);
      if (k > 0 && worst_ > worst) return k - 1;
    }
    return -1;
  }

  /// Delta_k before it is factorised.
  [[nodiscard]] Block<T> block(Index k) {
    const Index p = driven(k), q = others(k), each = size_ * size_, width = size_ * dense::inverse_columns(size_);
    T* const all = storage_.at(k);
    const auto inverses = [&](Index which, Index n) {
      return Matrix(all + 5 * each + which * width, n, dense::inverse_columns(n));
    };
    return {Matrix(all, p, p),
            Matrix(all + each, q, q),
            Matrix(all + 2 * each, p, q),
            Matrix(all + 3 * each, p, p),
            Matrix(all + 4 * each, q, q),
            inverses(0, p),
            inverses(1, q),
            inverses(2, p),
            inverses(3, q)};
  }
  /// What is_weak() goes on from.
  [[nodiscard]] bool weak() const { return weak_; }
  [[nodiscard]] std::span<T> largest_vector() { return vectors_[6]; }

  void solve(Index k, std::span<const double> b, std::span<double> x) {
    const auto [o, e] = split(k, b);
    const std::span<T> o_work = like(o, 2), e_work = like(e, 3), x_o = like(o, 4), x_e = like(e, 5);
    std::copy(o.begin(), o.end(), x_o.begin());
    std::copy(e.begin(), e.end(), x_e.begin());
    std::copy(o.begin(), o.end(), o_work.begin());
    if (keeps_all_) {
      // x_E = C2^-1 (b_E + K^T H^-1 b_O), x_O = H^-1 (b_O - K x_E): as few factors as can be, for corrections.
      const Kept<T> f = kept(k);
      both_ways(f.h, o_work);
      dense::multiply(f.k, dense::Form::transposed, o_work, 1, x_e);
      both_ways(f.c2, x_e);
      dense::multiply(f.k, dense::Form::plain, x_e, 0, o_work);
      for (std::size_t i = 0; i < x_o.size(); ++i) x_o[i] -= o_work[i];
      both_ways(f.h, x_o);
      return join(k, x_o, x_e, x);
    }
    // x_O = C1^-1 (b_O - K G^-1 b_E) and x_E = C2^-1 (b_E + K^T H^-1 b_O): neither takes large from large.
    const Matrix across = block(k).k;
    const auto [h, g, c1, c2] = block(k).factors();
    dense::solve(h, o_work);
    dense::multiply(across, dense::Form::transposed, o_work, 1, x_e);
    dense::solve(c2, x_e);
    std::copy(e.begin(), e.end(), e_work.begin());
    dense::solve(g, e_work);
    dense::multiply(across, dense::Form::plain, e_work, 0, o_work);
    for (std::size_t i = 0; i < x_o.size(); ++i) x_o[i] -= o_work[i];
    dense::solve(c1, x_o);
    join(k, x_o, x_e, x);
  }

  void multiply_top(std::span<const double> x, std::span<double> y) {
    const Index p = driven(2), q = others(2);
    const auto [o, e] = split(2, x);
    const std::span<T> y_o = like(o, 2), y_e = like(e, 3), across = like(e, 4);
    dense::multiply_symmetric(shaped(top_.h, p, p), o, y_o);
    dense::multiply(shaped(top_.k, p, q), dense::Form::plain, e, 1, y_o);
    dense::multiply_symmetric(shaped(top_.g, q, q), e, y_e);
    dense::multiply(shaped(top_.k, p, q), dense::Form::transposed, o, 0, across);
    for (std::size_t i = 0; i < y_e.size(); ++i) y_e[i] -= across[i];
    join(2, y_o, y_e, y);
  }

  void multiply_top(std::span<const double> x, std::span<long double> y) {
    const Index p = driven(2), q = others(2);
    const auto of = [&](std::size_t which, Index count) {
      return std::span(precise_[which]).first(static_cast<std::size_t>(count));
    };
    // Driven functions are odd at k = 2.
    const std::span<long double> o = of(0, p), e = of(1, q), y_o = of(2, p), y_e = of(3, q);
    basis_.split(x, e, o);
    std::fill(y_o.begin(), y_o.end(), 0.0L);
    std::fill(y_e.begin(), y_e.end(), 0.0L);
    add_symmetric_product<T, long double>(shaped(top_.h, p, p), o, y_o);
    add_product(1, shaped(top_.k, p, q), dense::Form::plain, e, y_o);
    add_symmetric_product<T, long double>(shaped(top_.g, q, q), e, y_e);
    add_product(-1, shaped(top_.k, p, q), dense::Form::transposed, o, y_e);
    basis_.join(y_e, y_o, y);
  }

 private:
  [[nodiscard]] Index driven(Index k) const { return blocks_.count(driven_parity(k)); }
  [[nodiscard]] Index others(Index k) const { return blocks_.count(other(driven_parity(k))); }

  void reach(Index whole, Index for_corrections) {
    storage_.reach(whole);
    if (for_corrections >= 0) kept_.reach(for_corrections);
  }

  [[nodiscard]] Kept<T> kept(Index k) {
    const Index p = driven(k), q = others(k), apart = size_ + 1;
    T* const all = kept_.at(k);
    Kept<T> made{Matrix(all, p, p), Matrix(all + 1, q, q), Matrix(all + size_ * apart, p, q)};
    made.h.stride[0] = apart;
    made.c2.stride[0] = 1;
    made.c2.stride[1] = apart;
    return made;
  }

  void keep(Index k, const Block<T>& b) {
    const Kept<T> to = kept(k);
    copy_lower<T>(b.h, to.h);
    for (Index i = 0; i < b.c2.extent[0]; ++i)
      for (Index j = 0; j <= i; ++j) to.c2(i, j) = b.c2(i, j);
    copy<T>(b.k, to.k);
  }

  static T collisions(const Case& at, Index k) { return static_cast<T>(DriftKinetic::collisions(at.nu_hat, k)); }

  void keep_top() {
    const Block<T> two = block(2);
    copy<T>(two.h, shaped(top_.h, two.h.extent[0], two.h.extent[1]));
    copy<T>(two.g, shaped(top_.g, two.g.extent[0], two.g.extent[1]));
    copy<T>(two.k, shaped(top_.k, two.k.extent[0], two.k.extent[1]));
  }

  dense::Cholesky<T> factorised(Index k, const Case& at, Matrix a, Matrix inverses) {
    const dense::Cholesky<T> factor{a, inverses};
    if (!dense::factorise(factor, scratch_)) throw not_positive_definite(equation_, k, at);
    worst_ = std::max(worst_, condition(a));
    return factor;
  }

  void factorise_and_descend(Index k, const Case& at) {
    const Block<T> b = block(k);
    const Index p = driven(k), q = others(k);
    copy_lower<T>(b.h, b.c1);
    copy_lower<T>(b.g, b.c2);
    const dense::Cholesky<T> h = factorised(k, at, b.h, b.of_h);
    // X1 = H^-1/2 K and Y3 = H^-1/2 L_O side by side.
    const Matrix pair = shaped(first_pair_, p, 2 * q), x1 = columns(pair, 0, q), y3 = columns(pair, q, q);
    copy<T>(b.k, x1);
    if (k > 0) fill_streaming(blocks_, equation_.lower(k), driven_parity(k), y3);
    dense::solve_lower(h, k > 0 ? pair : x1, scratch_);
    dense::multiply_symmetric(T{1}, x1, dense::Form::transposed, T{1}, b.c2);
    const dense::Cholesky<T> c2 = factorised(k, at, b.c2, b.of_c2);
    if (keeps_all_) keep(k, b);
    if (k == 0) {
      if (!keeps_all_) factorise_first_sum(k, at, b);
      return;
    }
    // Y2 = C2^-1/2 L_E and X = C2^-1/2 X1^T side by side.
    const Matrix other_pair = shaped(second_pair_, q, 2 * p), y2 = columns(other_pair, 0, p),
                 x = columns(other_pair, p, p);
    fill_streaming(blocks_, equation_.lower(k), other(driven_parity(k)), y2);
    copy_transposed<T>(x1, x);
    dense::solve_lower(c2, other_pair, scratch_);
    const Matrix z = shaped(z_, q, q);
    dense::multiply(T{1}, x, dense::Form::plain, y3, dense::Form::plain, T{0}, z);
    weak_ = weak_ && k > 2 && is_weak(x);  // the coupling grows as k falls

    const Block<T> next = block(k - 1);
    const Matrix y1 = shaped(single_, p, q);
    if (!weak_) {
      const dense::Cholesky<T> c1 = factorise_first_sum(k, at, b);
      fill_streaming(blocks_, equation_.lower(k), driven_parity(k), y1);
      dense::solve_lower(c1, y1, scratch_);
    }
    fill_drift(k - 1, at.epsi_hat, next.k);
    dense::multiply(T{-1}, z, dense::Form::transposed, y2, dense::Form::plain, T{1}, next.k);
    dense::multiply_symmetric(T{1}, weak_ ? y3 : y1, dense::Form::transposed, T{0}, next.h);
    if (weak_) dense::multiply_symmetric(T{-1}, z, dense::Form::transposed, T{1}, next.h);
    dense::multiply_symmetric(T{1}, y2, dense::Form::transposed, T{0}, next.g);
    add_to_diagonal(next.h, collisions(at, k - 1));
    add_to_diagonal(next.g, collisions(at, k - 1));
    if (k == 1) pin<T>(next.g, blocks_.null_vector);
    if (k == 1 && at.epsi_hat == 0) {  // where this path was asked for; nothing couples the two classes then
      leave_out<T>(next.h, blocks_.undamped_odd);
      leave_out<T>(next.g, blocks_.undamped_even);
    }
  }

  /// C1 = H + K G^-1 K^T, factorised, and G with it.
  dense::Cholesky<T> factorise_first_sum(Index k, const Case& at, const Block<T>& b) {
    const dense::Cholesky<T> g = factorised(k, at, b.g, b.of_g);
    const Matrix x2 = shaped(single_, others(k), driven(k));
    copy_transposed<T>(b.k, x2);
    dense::solve_lower(g, x2, scratch_);
    dense::multiply_symmetric(T{1}, x2, dense::Form::transposed, T{1}, b.c1);
    return factorised(k, at, b.c1, b.of_c1);
  }

  /// Whether L_O^T C1^-1 L_O may be taken as Y3^T Y3 - Z^T Z: what is left of the first is at least 1 - lambda of it,
  /// lambda < 1 the largest eigenvalue of X X^T. By the power method, going on from the vector of the index above.
  bool is_weak(Matrix x) {
    constexpr double largest = 0.9;  // loses one digit of sixteen, and this estimate perhaps another
    const std::span<T> v = vectors_[6].first(static_cast<std::size_t>(x.extent[1]));
    const std::span<T> u = vectors_[7].first(static_cast<std::size_t>(x.extent[0]));
    T lambda = 0;
    for (int round = 0; round < 2; ++round) {
      T norm = 0;
      for (const T value : v) norm += value * value;
      if (!(norm > 0)) return true;  // no coupling at all
      for (T& value : v) value /= std::sqrt(norm);
      dense::multiply(x, dense::Form::plain, v, 0, u);
      lambda = 0;
      for (const T value : u) lambda += value * value;
      dense::multiply(x, dense::Form::transposed, u, 0, v);
    }
    std::copy(u.begin(), u.end(), vectors_[6].begin());  // at the index below, classes have each other's parity
    return lambda <= largest;
  }

  static Matrix columns(Matrix a, Index first, Index count) {
    a.data += first;
    a.extent[1] = count;
    return a;
  }

  /// E_hat X from the other functions to the driven ones.
  void fill_drift(Index k, double epsi_hat, Matrix to) const {
    const std::vector<double>& from =
        driven_parity(k) == Parity::even ? blocks_.drift_even_odd : blocks_.drift_odd_even;
    for (std::size_t i = 0; i < from.size(); ++i) to.data[i] = static_cast<T>(epsi_hat * from[i]);
  }

  static void both_ways(Matrix factor, std::span<T> x) {
    dense::solve_triangular(factor, dense::Form::plain, x);
    dense::solve_triangular(factor, dense::Form::transposed, x);
  }

  std::span<T> like(std::span<const T> one, std::size_t which) { return vectors_[which].first(one.size()); }

  std::pair<std::span<T>, std::span<T>> split(Index k, std::span<const double> on_grid) {
    const bool even = driven_parity(k) == Parity::even;
    const std::span<T> o = vectors_[0].first(static_cast<std::size_t>(driven(k)));
    const std::span<T> e = vectors_[1].first(static_cast<std::size_t>(others(k)));
    even ? basis_.split(on_grid, o, e) : basis_.split(on_grid, e, o);
    return {o, e};
  }
  void join(Index k, std::span<const T> o, std::span<const T> e, std::span<double> on_grid) const {
    driven_parity(k) == Parity::even ? basis_.join(o, e, on_grid) : basis_.join(e, o, on_grid);
  }

  const DriftKinetic& equation_;
  const ParityBasis& basis_;
  const ParityBlocks& blocks_;
  Index size_;
  MatrixArena<T> arena_;
  LegendreStorage<T> storage_, kept_;
  bool keeps_all_ = false;
  double worst_ = 1;  // condition of the factors of this index
  Block<T> top_;
  Matrix single_, z_, first_pair_, second_pair_;
  std::span<T> scratch_;
  std::array<std::span<T>, 8> vectors_;  // the last two: of is_weak()
  std::array<std::vector<long double>, 4> precise_;
  bool weak_ = true;
};

}  // namespace

std::unique_ptr<Elimination> quasidefinite_elimination(const ParityBasis& basis, const ParityBlocks& blocks,
                                                       const DriftKinetic& equation) {
  return std::make_unique<MixedElimination<QuasidefiniteBlocks>>(&basis, &blocks, &equation);
}

std::size_t quasidefinite_elimination_bytes(const Extent& extent) {
  const Index size = (extent.points + 1) / 2;
  // Without float32 it keeps four whole blocks, with float32 one of each.
  const std::size_t precise = 4 * static_cast<std::size_t>(size) * sizeof(long double);
  if (!extent.float32_n_xi) return mixed_bytes(extent, arena_elements(size), block_elements(size)) + precise;
  const std::size_t whole = static_cast<std::size_t>(block_elements(size)) * (4 * sizeof(double) + sizeof(float));
  return mixed_bytes(extent, arena_elements(size), kept_elements(size)) + whole + 2 * precise;
}

}  // namespace sonde::neoclassical
