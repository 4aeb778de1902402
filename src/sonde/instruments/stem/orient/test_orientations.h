// SPDX-License-Identifier: Apache-2.0
// Orientations and peaks for tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "sonde/engine/math/random.h"
#include "sonde/instruments/stem/orient/orientation_plan.h"

namespace sonde::stem {

inline constexpr double degree = std::numbers::pi / 180;

/// Evenly distributed turns: quaternions of four normal numbers.
inline Orientation random_orientation(Random& random) {
  double q[4], norm = 0;
  for (double& part : q) {
    part = random.normal();
    norm += part * part;
  }
  const double angle = 2 * std::acos(q[0] / std::sqrt(norm));
  return turn_about(normalised({q[1], q[2], q[3]}), angle);
}

inline std::vector<DiffractionPeak> peaks_of(const OrientationPlan& plan, const Orientation& orientation) {
  std::vector<DiffractionPeak> peaks;
  for (const KinematicSpot& spot : kinematic_pattern(plan.reflections(), orientation, plan.beam()))
    peaks.push_back({spot.x, spot.y, spot.intensity});
  return peaks;
}

/// Where nearly all of a pattern is of the plane across an axis w, O and R_w(180 degrees) O give the same one.
inline double error_beside_ambiguity(const OrientationPlan& plan, const Orientation& truth, const Orientation& found) {
  const std::vector<Mat3> proper = plan.group().proper();
  double smallest = misorientation(truth, found, proper);
  const Vec3 beam = transposed(truth)[2];
  const std::vector<KinematicSpot> spots = kinematic_pattern(plan.reflections(), truth, plan.beam());
  const Index most = 6;
  for (Index at = 0; at < (2 * most + 1) * (2 * most + 1) * (2 * most + 1); ++at) {
    const Miller axis{static_cast<int>(at % 13 - most), static_cast<int>(at / 13 % 13 - most),
                      static_cast<int>(at / 169 - most)};
    if (axis == Miller{0, 0, 0} || dot(normalised(as_vector(axis)), beam) < std::cos(12 * degree)) continue;
    double total = 0, across = 0;
    for (const KinematicSpot& spot : spots) {
      total += spot.intensity;
      if (dot(as_vector(plan.reflections()[spot.reflection].hkl), as_vector(axis)) == 0) across += spot.intensity;
    }
    if (across < 0.9 * total) continue;
    smallest = std::min(
        smallest,
        misorientation(times(turn_about(normalised(as_vector(axis)), std::numbers::pi), truth), found, proper));
  }
  return smallest;
}

}  // namespace sonde::stem
