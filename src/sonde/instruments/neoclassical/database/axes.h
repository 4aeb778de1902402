// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde::neoclassical {

/// The three axes of a table of coefficients.
struct Axes {
  std::vector<double> rho;       ///< sqrt(s) of the surfaces
  std::vector<double> nu_v;      ///< nu/v, 1/m
  std::vector<double> Er_tilde;  ///< electric field over speed and B00, in the label that derived_fields.h converts

  [[nodiscard]] Index radii() const { return static_cast<Index>(rho.size()); }
  [[nodiscard]] Index collisionalities() const { return static_cast<Index>(nu_v.size()); }
  [[nodiscard]] Index fields() const { return static_cast<Index>(Er_tilde.size()); }
  [[nodiscard]] Index count() const { return radii() * collisionalities() * fields(); }
  /// Tables are [rho][nu_v][Er_tilde].
  [[nodiscard]] std::size_t index(Index radius, Index nu, Index field) const {
    return static_cast<std::size_t>((radius * collisionalities() + nu) * fields() + field);
  }
  friend bool operator==(const Axes&, const Axes&) = default;
};

/// 7 radii, 16 collisionalities, 12 fields: what published databases use.
[[nodiscard]] Axes default_axes();

/// Each axis must have a value and increase; 0 < rho <= 1, nu_v > 0, Er_tilde >= 0. Throws Error(bad_input) naming axis
/// and value.
void require_valid(const Axes& axes);

}  // namespace sonde::neoclassical
