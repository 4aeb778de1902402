// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sonde/instruments/neoclassical/geometry/surface.h"
#include "sonde/instruments/neoclassical/run/settings.h"

namespace sonde::neoclassical {

/// What turns an electric field as people give it into the E_hat of the solver on one surface.
struct FieldScale {
  /// E_hat of er_hat = 1: 1 / (dpsi/dr) for surfaces with a label of their own, dr/ds = a_b / (2 rho) in s.
  std::optional<double> er_hat{};
  /// E_hat of er_tilde = 1: psia / (a_b rho), which B00 has left.
  std::optional<double> er_tilde{};
};

/// Of a surface that is no part of an equilibrium (analytic, DKES): er_hat only.
[[nodiscard]] FieldScale field_scale(const Surface& surface);
/// Of a surface of an equilibrium.
[[nodiscard]] FieldScale field_scale(double rho, double a_b, double psia);

/// An electric field or several, all given in one way.
struct FieldAxis {
  FieldKind kind = FieldKind::epsi_hat;
  std::vector<double> values{0};

  /// E_hat of each. Throws Error(bad_input) when the surface has no scale of this kind.
  [[nodiscard]] std::vector<double> epsi_hat(const FieldScale& scale) const;
};

}  // namespace sonde::neoclassical
