// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/orient/plane_partners.h"

#include <cmath>
#include <numbers>

namespace sonde::stem {
namespace {

using std::numbers::pi;
constexpr double widest_tilt = 12 * pi / 180;
constexpr double nearly_all = 0.95;  // of the intensity

}  // namespace

std::vector<Orientation> plane_partners(const OrientationPlan& plan, const Orientation& orientation) {
  const Vec3 beam = transposed(orientation)[2];
  const std::vector<KinematicSpot> spots = kinematic_pattern(plan.reflections(), orientation, plan.beam());
  double total = 0;
  for (const KinematicSpot& spot : spots) total += spot.intensity;
  std::vector<Orientation> found;
  for (const LatticeDirection& axis : plan.low_directions()) {
    if (dot(axis.direction, beam) < std::cos(widest_tilt)) continue;
    double across = 0;
    for (const KinematicSpot& spot : spots) {
      const Miller &hkl = plan.reflections()[spot.reflection].hkl, &uvw = axis.zone;
      if (hkl[0] * uvw[0] + hkl[1] * uvw[1] + hkl[2] * uvw[2] == 0) across += spot.intensity;
    }
    if (across < nearly_all * total) continue;
    const Orientation turned = times(turn_about(axis.direction, pi), orientation);
    // Half a turn may be an operation of the crystal.
    if (misorientation(turned, orientation, plan.proper()) >= distinct_angle) found.push_back(turned);
  }
  return found;
}

}  // namespace sonde::stem
