// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde::neoclassical {

/// sum_i weight_i f(K_i) stands for the integral of exp(-K) f(K) over K = (v/v_t)^2 from 0 to infinity. K increases.
struct EnergyRule {
  std::vector<double> K, weight;
  [[nodiscard]] std::size_t size() const { return K.size(); }
};

/// Gauss-Laguerre: exact for polynomials in K of degree up to 2 count - 1. Odd powers of the speed converge
/// algebraically only. 1 <= count <= 256, else Error(bad_input).
[[nodiscard]] EnergyRule gauss_laguerre(Index count);

/// Gauss in the speed x = v/v_t with the weight x exp(-x^2) on the half line: exact for polynomials in x of degree up
/// to 2 count - 1, which holds half-integer powers of K too. 1 <= count <= 64, else Error(bad_input).
[[nodiscard]] EnergyRule maxwell_polynomials(Index count);

/// The rule without its last nodes, those with weight K^power below 1e-17 of the integral of exp(-K) K^power: nothing
/// that grows no faster feels them, and collisions are rarest there.
[[nodiscard]] EnergyRule without_tail(EnergyRule rule, double power);

}  // namespace sonde::neoclassical
