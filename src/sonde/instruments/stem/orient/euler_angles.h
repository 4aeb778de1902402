// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/instruments/stem/orient/kinematic.h"

namespace sonde::stem {

/// Euler angles of Bunge (rad, 0 to 2 pi) of an orientation: its matrix is Z(phi2) X(Phi) Z(phi1) of passive turns.
struct EulerAngles {
  double phi1 = 0, capital_phi = 0, phi2 = 0;
};
[[nodiscard]] EulerAngles euler_angles(const Orientation& orientation);
[[nodiscard]] Orientation orientation_of(const EulerAngles& angles);

}  // namespace sonde::stem
