// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/propagate/boxes.h"

namespace sonde::maxwell {

std::vector<double> cut(const std::vector<double>& values, const Grid& grid, const NodeBox& box) {
  std::vector<double> made;
  if (values.empty()) return made;
  made.reserve(static_cast<std::size_t>(box.count()));
  for_each_row(grid, box, [&](Index node) {
    const auto row = values.begin() + node;
    made.insert(made.end(), row, row + box.extent(2));
  });
  return made;
}

std::vector<Point> points_in(const NodeBox& box, const Grid& grid, const std::vector<Point>& points, const Grid& part,
                             const Triple& origin) {
  std::vector<Point> made;
  const Triple& n = grid.extents();
  for (const Point& point : points) {
    Point& to = made.emplace_back(Point{point.component, {}, point.hard});
    for (const PointTap& tap : point.taps) {
      const Index k = tap.node / (n[1] * n[2]), j = tap.node / n[2] % n[1], x = tap.node % n[2];
      if (box.has_row(k, j) && x >= box.first[2] && x < box.last[2])
        to.taps.push_back({part.index(k - origin[0], j - origin[1], x - origin[2]), tap.weight});
    }
  }
  return made;
}

}  // namespace sonde::maxwell
