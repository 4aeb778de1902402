// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/orient/zone_axes.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace sonde::stem {
namespace {

using std::numbers::pi;

/// A part of the way on the great circle from one unit vector to another.
Vec3 between(const Vec3& a, const Vec3& b, double part) {
  const double arc = std::acos(std::clamp(dot(a, b), -1.0, 1.0));
  if (arc < 1e-12) return a;
  return normalised(sum(scaled(std::sin((1 - part) * arc), a), scaled(std::sin(part * arc), b)));
}

/// Axes of the fourfold turns, right-handed; fewer than three for other groups than m-3m.
std::vector<Vec3> fourfold_axes(const PointGroup& group) {
  std::vector<Vec3> axes;
  for (const Mat3& turn : group.proper()) {
    if (std::abs(trace(turn) - 1) > 0.1) continue;  // 1 + 2 cos(90 degrees)
    const Vec3 axis = normalised({turn[2][1] - turn[1][2], turn[0][2] - turn[2][0], turn[1][0] - turn[0][1]});
    if (std::none_of(axes.begin(), axes.end(), [&](const Vec3& each) { return std::abs(dot(each, axis)) > 0.9; }))
      axes.push_back(axis);
  }
  return axes;
}

std::vector<Vec3> cubic_triangle(const std::vector<Vec3>& axes, double step) {
  // One triangle is as good as another: that between z, y + z and x + y + z for axes along x, y and z.
  const Vec3 top = axes[2], edge = normalised(sum(axes[1], axes[2]));
  const Vec3 corner = normalised(sum(axes[0], sum(axes[1], axes[2])));
  const double arc = std::acos(dot(top, corner));
  const int parts = std::max(1, static_cast<int>(std::round(arc / step)));
  std::vector<Vec3> found;
  for (int i = 0; i <= parts; ++i) {
    const double down = static_cast<double>(i) / parts;
    const Vec3 left = between(top, edge, down), right = between(top, corner, down);
    for (int j = 0; j <= i; ++j) found.push_back(between(left, right, i == 0 ? 0 : static_cast<double>(j) / i));
  }
  return found;
}

/// Planes between a direction in no special place and its equals, pointing to it.
std::vector<Vec3> walls_of(const PointGroup& group) {
  const Vec3 centre = normalised({0.2137, 0.1093, 0.9707});
  std::vector<Vec3> walls;
  for (const Mat3& turn : group.cartesian) {
    const Vec3 wall = sum(centre, scaled(-1, times(turn, centre)));
    if (length(wall) > 1e-6) walls.push_back(normalised(wall));
  }
  return walls;
}

}  // namespace

std::vector<Vec3> zone_axes(const PointGroup& group, double step) {
  if (group.order() == 48)
    if (const std::vector<Vec3> axes = fourfold_axes(group); axes.size() == 3) return cubic_triangle(axes, step);
  const std::vector<Vec3> walls = walls_of(group);
  const double margin = -std::sin(step / 2);
  std::vector<Vec3> found;
  const int rings = std::max(1, static_cast<int>(std::round(pi / step)));
  for (int i = 0; i <= rings; ++i) {
    const double elevation = pi * i / rings;
    const int count = std::max(1, static_cast<int>(std::round(2 * pi * std::sin(elevation) / step)));
    for (int j = 0; j < count; ++j) {
      const double azimuth = 2 * pi * j / count;
      const Vec3 direction{std::sin(elevation) * std::cos(azimuth), std::sin(elevation) * std::sin(azimuth),
                           std::cos(elevation)};
      if (std::all_of(walls.begin(), walls.end(), [&](const Vec3& wall) { return dot(direction, wall) >= margin; }))
        found.push_back(direction);
    }
  }
  return found;
}

std::vector<LatticeDirection> lattice_directions(const UnitCell& cell, int highest) {
  const Mat3 axes = cell.axes();
  std::vector<LatticeDirection> found;
  for (int u = -highest; u <= highest; ++u)
    for (int v = -highest; v <= highest; ++v)
      for (int w = -highest; w <= highest; ++w)
        if (std::gcd(std::gcd(u, v), w) == 1)
          found.push_back({{u, v, w}, normalised(times(axes, as_vector({u, v, w})))});
  return found;
}

Orientation orientation_along(const Vec3& direction) {
  const double elevation = std::acos(std::clamp(direction[2], -1.0, 1.0));
  const double azimuth = std::atan2(direction[0], -direction[1]);
  return turn_about({std::cos(azimuth), std::sin(azimuth), 0}, elevation);
}

Mat3 turn_in_plane(double angle) { return turn_about({0, 0, 1}, angle); }

double misorientation(const Orientation& a, const Orientation& b, const std::vector<Mat3>& proper) {
  // trace(a^T turn b) is the sum of the products of the elements of turn and of a b^T.
  const Mat3 both = times(a, transposed(b));
  double largest = -1;
  for (const Mat3& turn : proper)
    largest = std::max(largest, dot(turn[0], both[0]) + dot(turn[1], both[1]) + dot(turn[2], both[2]));
  // acos loses half of the digits near 1: the angle of small turns is good to 1e-8.
  return std::acos(std::clamp((largest - 1) / 2, -1.0, 1.0));
}

}  // namespace sonde::stem
