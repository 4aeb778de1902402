// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <numbers>
#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde::neoclassical {

/// theta_i = 2 pi i / n_theta, zeta_j = 2 pi j / (periods n_zeta): one field period. Every array on it is
/// [theta][zeta], zeta fastest.
struct AngleGrid {
  Index n_theta = 0, n_zeta = 0;
  int periods = 1;

  [[nodiscard]] Index count() const { return n_theta * n_zeta; }
  [[nodiscard]] Index index(Index i, Index j) const { return i * n_zeta + j; }
  /// The point that (theta, zeta) -> -(theta, zeta) takes a point to.
  [[nodiscard]] Index image(Index point) const {
    const Index i = point / n_zeta, j = point % n_zeta;
    return index((n_theta - i) % n_theta, (n_zeta - j) % n_zeta);
  }
  [[nodiscard]] double theta(Index i) const {
    return 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n_theta);
  }
  [[nodiscard]] double zeta(Index j) const {
    return 2 * std::numbers::pi * static_cast<double>(j) / (static_cast<double>(n_zeta) * periods);
  }
  friend bool operator==(const AngleGrid&, const AngleGrid&) = default;
};

/// Both counts must be odd and at least 1: only then have the Fourier derivatives no null mode but the constant. Throws
/// Error(bad_input) naming the next odd count.
void require_odd(const AngleGrid& grid);

}  // namespace sonde::neoclassical
