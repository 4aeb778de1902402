// SPDX-License-Identifier: Apache-2.0
// Private to the room: elimination of the block-tridiagonal system from the top,
//     Delta_N = D_N ,   Delta_k = D_k - U_k Delta_{k+1}^-1 L_{k+1} .
// The sources are zero above k = 2, so that only Delta_2, Delta_1 and Delta_0 are needed afterwards. Vectors are
// functions on the grid of angles whatever basis a path works in.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "sonde/instruments/neoclassical/operators/parity.h"
#include "sonde/instruments/neoclassical/solve/block_step.h"

namespace sonde::neoclassical {

class Elimination {
 public:
  Elimination() = default;
  Elimination(const Elimination&) = delete;
  Elimination& operator=(const Elimination&) = delete;
  virtual ~Elimination() = default;

  BlockStep step;

  /// Delta_k from k = n_xi >= 2 down to 0. Allocates nothing but a vector on a rational surface. Throws
  /// Error(not_converged) where a block cannot be factorised.
  virtual void eliminate(const Case& at, Index n_xi) = 0;
  /// The same in float32, as a preconditioner: from the top until a block is so ill-conditioned that float32 would lose
  /// its small eigenvalues, which are those of rare collisions; the few blocks below are of float64. Factors of every k
  /// are kept. Takes memory when n_xi, or the number of blocks of float64, is larger than before.
  virtual void eliminate_in_float32(const Case& at, Index n_xi) = 0;
  /// x = Delta_k^-1 b, k = 0, 1, 2; after eliminate_in_float32() any k.
  virtual void solve(Index k, std::span<const double> b, std::span<double> x) = 0;
  /// y = Delta_2 x, after eliminate(). With a long double y all is added in that.
  virtual void multiply_top(std::span<const double> x, std::span<double> y) = 0;
  virtual void multiply_top(std::span<const double> x, std::span<long double> y) = 0;
};

/// What a path holds: for float64, or for float32 up to a Legendre index too.
struct Extent {
  Index points = 0;
  std::optional<Index> float32_n_xi{};
};

/// The obvious one: LU of every block, products of full matrices. 4.67 n^3 flops per Legendre index.
std::unique_ptr<Elimination> dense_elimination(const DriftKinetic& equation);
std::size_t dense_elimination_bytes(const Extent& extent);

/// `skew` with E_hat = 0: Delta_k = c_k + L_{k+1}^T Delta_{k+1}^-1 L_{k+1} is symmetric and positive definite, and
/// nothing is ever subtracted. With `blocks` only of the functions that the sources drive (odd ones at even k, even
/// ones at odd k): 2.33 (n / 2)^3 flops per index, else 2.33 n^3.
std::unique_ptr<Elimination> spd_elimination(const DriftKinetic& equation, const ParityBasis* basis,
                                             const ParityBlocks* blocks);
std::size_t spd_elimination_bytes(const Extent& extent, bool parity);

/// `skew` with E_hat != 0 and stellarator symmetry. In the order (O, E) of driven functions and the others,
///     Delta = [H K; -K^T G]   with H, G symmetric positive definite, and with C1 = H + K G^-1 K^T, C2 = G + K^T H^-1 K
///     H' = L_O^T C1^-1 L_O + c ,   G' = L_E^T C2^-1 L_E + c ,   K' = E_hat X_OE - L_O^T H^-1 K C2^-1 L_E :
/// sums of positive terms, no cancellation however strong the field. 15.3 (n / 2)^3 flops per index. Where the coupling
/// K is weak, H' is had as a difference that loses a digit at most: 12.7 (n / 2)^3.
std::unique_ptr<Elimination> quasidefinite_elimination(const ParityBasis& basis, const ParityBlocks& blocks,
                                                       const DriftKinetic& equation);
std::size_t quasidefinite_elimination_bytes(const Extent& extent);

}  // namespace sonde::neoclassical
