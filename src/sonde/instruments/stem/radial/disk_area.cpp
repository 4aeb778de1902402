// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/radial/disk_area.h"

#include <algorithm>
#include <cmath>

namespace sonde::stem {
namespace {

double cross(PlanePoint p, PlanePoint q) { return p.x * q.y - p.y * q.x; }
double dot(PlanePoint p, PlanePoint q) { return p.x * q.x + p.y * q.y; }
PlanePoint between(PlanePoint p, PlanePoint q, double t) { return {p.x + t * (q.x - p.x), p.y + t * (q.y - p.y)}; }

double sector(PlanePoint p, PlanePoint q, double radius) {
  return radius * radius / 2 * std::atan2(cross(p, q), dot(p, q));
}

/// Of the triangle of the origin and an edge, with its sign.
double edge_in_disk(PlanePoint p, PlanePoint q, double radius) {
  const PlanePoint along = {q.x - p.x, q.y - p.y};
  const double a = dot(along, along), half_b = dot(p, along), c = dot(p, p) - radius * radius;
  const double discriminant = half_b * half_b - a * c;
  if (a == 0) return 0;
  if (discriminant <= 0) return sector(p, q, radius);
  const double root = std::sqrt(discriminant);
  const double first = std::max(0.0, (-half_b - root) / a), last = std::min(1.0, (-half_b + root) / a);
  if (first >= last) return sector(p, q, radius);
  const PlanePoint enters = between(p, q, first), leaves = between(p, q, last);
  return sector(p, enters, radius) * (first > 0 ? 1 : 0) + cross(enters, leaves) / 2 +
         sector(leaves, q, radius) * (last < 1 ? 1 : 0);
}

}  // namespace

double area_in_disk(const std::vector<PlanePoint>& polygon, double radius) {
  if (radius <= 0) return 0;
  double area = 0;
  for (std::size_t i = 0; i < polygon.size(); ++i)
    area += edge_in_disk(polygon[i], polygon[(i + 1) % polygon.size()], radius);
  return std::abs(area);
}

std::vector<PlanePoint> left_of(const std::vector<PlanePoint>& polygon, double angle) {
  const PlanePoint ray = {std::cos(angle), std::sin(angle)};
  std::vector<PlanePoint> part;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const PlanePoint p = polygon[i], q = polygon[(i + 1) % polygon.size()];
    const double of_p = cross(ray, p), of_q = cross(ray, q);
    if (of_p >= 0) part.push_back(p);
    if ((of_p < 0) != (of_q < 0)) part.push_back(between(p, q, of_p / (of_p - of_q)));
  }
  return part;
}

}  // namespace sonde::stem
