// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace sonde::stem {

struct PlanePoint {
  double x = 0, y = 0;
};

/// The area that a simple polygon (corners in either direction) shares with the disk of this radius about the origin,
/// exactly: each edge adds triangles inside and circular sectors outside.
[[nodiscard]] double area_in_disk(const std::vector<PlanePoint>& polygon, double radius);

/// The part of a convex polygon on the left of the ray from the origin at `angle` (rad, from x toward y) and of its
/// continuation backward: where the sine of the angle from the ray is positive.
[[nodiscard]] std::vector<PlanePoint> left_of(const std::vector<PlanePoint>& polygon, double angle);

}  // namespace sonde::stem
