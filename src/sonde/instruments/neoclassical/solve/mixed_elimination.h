// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/neoclassical/solve/elimination.h"

namespace sonde::neoclassical {

/// Above this condition of a block, as its diagonal shows it, the next one is the first of float64. The true condition
/// is ten to a hundred times that, and 6e-8 times it is what is lost: a preconditioner with a per mille of error still
/// gains three digits per step. Measured: 1e4 and more stalls at nu_hat = 1e-5, 1e3 takes twice the steps of 1e2.
inline constexpr double worst_of_float32 = 2e2;
/// Indices of float64 at most, of n_xi + 1: with more of them float64 throughout takes less time.
[[nodiscard]] inline Index most_of_float64(Index n_xi) { return std::min<Index>(16, n_xi / 4); }

/// A path in float64, or in float32 with the last blocks in float64. Blocks<T> has
///     begin(at, n_xi, kept)        Delta_n_xi; factors of k <= kept stay
///     descend(at, first, worst, step)  from Delta_first down with a step() before each; ends after a block of a
///                                  condition above `worst` and returns the index of the block after it, which is made
///                                  but not factorised; -1 at the end
///     take(k, others)              Delta_k from blocks of another element type; factors of all below stay
///     solve(k, b, x), multiply_top(x, y)
template <template <class> class Blocks>
class MixedElimination final : public Elimination {
 public:
  template <class... Parts>
  explicit MixedElimination(const Parts&... parts)
      : below_(parts...), make_above_([=] { return std::make_unique<Blocks<float>>(parts...); }) {}

  void eliminate(const Case& at, Index n_xi) override {
    last_below_ = n_xi;
    below_.begin(at, n_xi, 2);
    below_.descend(at, n_xi, std::numeric_limits<double>::infinity(), step);
  }

  void eliminate_in_float32(const Case& at, Index n_xi) override {
    if (above_ == nullptr) above_ = make_above_();
    above_->begin(at, n_xi, n_xi);
    last_below_ = above_->descend(at, n_xi, worst_of_float32, step);
    if (last_below_ < 0) return;
    if (last_below_ >= most_of_float64(n_xi))
      throw Error(ErrorKind::not_converged, fmt::format("float32 does not reach below Legendre index {}", last_below_));
    below_.take(last_below_, *above_);
    below_.descend(at, last_below_, std::numeric_limits<double>::infinity(), step);
  }

  void solve(Index k, std::span<const double> b, std::span<double> x) override {
    k > last_below_ ? above_->solve(k, b, x) : below_.solve(k, b, x);
  }
  void multiply_top(std::span<const double> x, std::span<double> y) override { below_.multiply_top(x, y); }
  void multiply_top(std::span<const double> x, std::span<long double> y) override { below_.multiply_top(x, y); }

 private:
  Blocks<double> below_;
  std::function<std::unique_ptr<Blocks<float>>()> make_above_;
  std::unique_ptr<Blocks<float>> above_;  // when first needed
  Index last_below_ = -1;                 // the highest index of float64
};

/// Of an arena and of storage by Legendre index, whose elements are counted by `arena` and `each`.
inline std::size_t mixed_bytes(const Extent& extent, Index arena, Index each) {
  const auto bytes = [&]<class T>(T, Index kept) {
    return static_cast<std::size_t>(arena + (kept + 2) * each) * sizeof(T);
  };
  if (!extent.float32_n_xi) return bytes(double(), 2);
  const Index n_xi = *extent.float32_n_xi;
  return bytes(double(), std::max<Index>(2, most_of_float64(n_xi) - 1)) + bytes(float(), n_xi);
}

}  // namespace sonde::neoclassical
