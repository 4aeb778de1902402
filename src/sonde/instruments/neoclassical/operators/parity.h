// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sonde/engine/array/view.h"
#include "sonde/instruments/neoclassical/operators/drift_kinetic.h"

namespace sonde::neoclassical {

/// Even and odd functions under (theta, zeta) -> -(theta, zeta), in an orthonormal basis of pairs of grid points: with
/// odd counts of angles only the origin is its own image. Even function 0 is the origin, even function 1 + i and odd
/// function i are (delta_p + delta_-p) / sqrt 2 and (delta_p - delta_-p) / sqrt 2 of pair i.
class ParityBasis {
 public:
  explicit ParityBasis(const AngleGrid& grid);

  [[nodiscard]] Index even() const { return odd() + 1; }
  [[nodiscard]] Index odd() const { return static_cast<Index>(pairs_.size()); }
  [[nodiscard]] Index points() const { return 2 * odd() + 1; }

  /// The two grid points of a pair.
  struct Pair {
    Index point, image;
  };
  [[nodiscard]] const std::vector<Pair>& pairs() const { return pairs_; }

  /// The even and odd coefficients of a function on the grid, and back.
  void split(std::span<const double> on_grid, std::span<double> even_part, std::span<double> odd_part) const;
  void split(std::span<const double> on_grid, std::span<float> even_part, std::span<float> odd_part) const;
  void split(std::span<const double> on_grid, std::span<long double> even_part, std::span<long double> odd_part) const;
  void join(std::span<const double> even_part, std::span<const double> odd_part, std::span<double> on_grid) const;
  void join(std::span<const float> even_part, std::span<const float> odd_part, std::span<double> on_grid) const;
  void join(std::span<const long double> even_part, std::span<const long double> odd_part,
            std::span<long double> on_grid) const;

 private:
  std::vector<Pair> pairs_;
};

enum class Parity { odd, even };

/// The functions that the sources drive are odd at even k and even at odd k (class O); E_hat couples them to the
/// others.
[[nodiscard]] inline Parity driven_parity(Index k) { return k % 2 == 0 ? Parity::odd : Parity::even; }
[[nodiscard]] inline Parity other(Parity parity) { return parity == Parity::odd ? Parity::even : Parity::odd; }

/// The parts of a `skew` operator of a stellarator-symmetric surface that take even functions to odd ones; since they
/// are antisymmetric (the mirror term: symmetric) the parts that lead back are their transposes but for a sign. Row
/// after row: [even][odd] and [odd][even].
struct ParityBlocks {
  Index even = 0, odd = 0;
  std::vector<double> streaming_even_odd;  ///< P_even^T A P_odd
  std::vector<double> streaming_odd_even;  ///< its transpose, negative
  std::vector<double> mirror;              ///< g of each pair: 1 + i and i are coupled by it
  std::vector<double> drift_even_odd, drift_odd_even;
  std::vector<double> null_vector;  ///< in even functions
  /// DriftKinetic::undamped in even functions (cosines) and in odd ones (sines).
  std::vector<std::vector<double>> undamped_even, undamped_odd;

  [[nodiscard]] Index count(Parity parity) const { return parity == Parity::odd ? odd : even; }
};

/// to = scale (A + shift diag(g)), from functions of one parity to those of the other, which is `rows`. T: float,
/// double.
template <class T>
void fill_streaming(const ParityBlocks& blocks, DriftKinetic::Factors factors, Parity rows, View<T, 2> to);

/// Throws Error(internal) for an operator that is not `skew` or not symmetric.
[[nodiscard]] ParityBlocks parity_blocks(const DriftKinetic& equation, const ParityBasis& basis);

}  // namespace sonde::neoclassical
