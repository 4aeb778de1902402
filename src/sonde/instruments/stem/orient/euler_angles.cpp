// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/orient/euler_angles.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sonde::stem {
namespace {

double positive(double angle) { return angle < 0 ? angle + 2 * std::numbers::pi : angle; }

}  // namespace

EulerAngles euler_angles(const Orientation& g) {
  const double tilt = std::acos(std::clamp(g[2][2], -1.0, 1.0));
  // Without a tilt only the sum, or with half a turn the difference, of the other two has a meaning.
  if (std::abs(g[2][2]) > 1 - 1e-12) return {positive(std::atan2(g[0][1], g[0][0])), tilt, 0};
  return {positive(std::atan2(g[2][0], -g[2][1])), tilt, positive(std::atan2(g[0][2], g[1][2]))};
}

Orientation orientation_of(const EulerAngles& angles) {
  // A passive turn is the active one by the opposite angle.
  const Vec3 x{1, 0, 0}, z{0, 0, 1};
  return times(turn_about(z, -angles.phi2), times(turn_about(x, -angles.capital_phi), turn_about(z, -angles.phi1)));
}

}  // namespace sonde::stem
