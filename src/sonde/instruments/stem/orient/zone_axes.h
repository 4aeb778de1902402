// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <numbers>
#include <vector>

#include "sonde/instruments/stem/orient/kinematic.h"

namespace sonde::stem {

/// Directions of the beam, `step` (rad) apart, of which every direction is an equal one of the point group within about
/// half a step. For m-3m the triangle between [001], [011] and [111], cut evenly (406 at 2 degrees); for others rings
/// of constant angle to the third Cartesian axis, of which those nearer than their equals to one direction are kept.
[[nodiscard]] std::vector<Vec3> zone_axes(const PointGroup& group, double step);

/// A lattice vector's indices and unit vector.
struct LatticeDirection {
  Miller zone{};  ///< [u v w], without a common factor
  Vec3 direction{};
};
/// All with indices from -highest to highest.
[[nodiscard]] std::vector<LatticeDirection> lattice_directions(const UnitCell& cell, int highest);

/// The shortest turn that brings (0, 0, 1) to a direction: Z-X-Z Euler angles (azimuth, elevation, -azimuth).
[[nodiscard]] Orientation orientation_along(const Vec3& direction);
/// About the beam by an angle (rad), from x toward y.
[[nodiscard]] Mat3 turn_in_plane(double angle);

/// rad: directions and orientations farther apart are different ones, which a plan and its refinement tell apart.
inline constexpr double distinct_angle = 5 * std::numbers::pi / 180;

/// Angle (rad) of the smallest turn between two orientations, of all that proper operations of the crystal make equal.
[[nodiscard]] double misorientation(const Orientation& a, const Orientation& b, const std::vector<Mat3>& proper);

}  // namespace sonde::stem
