// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sonde/instruments/neoclassical/operators/drift_kinetic.h"
#include "sonde/instruments/neoclassical/operators/whole_system_kernels.h"

namespace sonde::neoclassical {

/// The block-tridiagonal matrix of all Legendre indices 0 to n_xi. Vectors are [k][point]; inside they are [point][k],
/// so that one entry of A or X serves every k: 3 (N_theta + N_zeta) n (n_xi + 1) multiply-adds.
class WholeSystem {
 public:
  explicit WholeSystem(const DriftKinetic& equation) : equation_(equation) {}
  static std::size_t bytes(Index points, Index n_xi);

  /// Takes the memory for n_xi.
  void prepare(Index n_xi);
  /// y = M x. Allocates nothing.
  void apply(const Case& at, std::span<const double> x, std::span<double> y);

 private:
  const DriftKinetic& equation_;
  Index levels_ = 0;
  std::vector<double> x_, y_, streamed_;  // [point][k]
  Coupling coefficients_;
  std::vector<double> along_, across_;  // by k: products with the null vector and with X of it
};

}  // namespace sonde::neoclassical
