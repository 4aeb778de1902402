// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/engine/options/fields.h"
#include "sonde/instruments/neoclassical/scan/convergence.h"

namespace sonde::neoclassical {

/// How a convergence study refines.
struct StudySettings {
  std::string refine = "n_xi,n_theta,n_zeta";
  double tol = 1e-3;
  Index steps = 4;

  /// Throws Error(usage) for what is no list of n_xi, n_theta, n_zeta.
  [[nodiscard]] StudyOptions study() const;

  void describe(Fields& fields);
};

}  // namespace sonde::neoclassical
