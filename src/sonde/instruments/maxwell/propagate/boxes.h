// SPDX-License-Identifier: Apache-2.0
// Private to the room: what a box of a grid has of it.
#pragma once

#include <vector>

#include "sonde/instruments/maxwell/propagate/kept_fields.h"
#include "sonde/instruments/maxwell/propagate/problem.h"

namespace sonde::maxwell {

/// Calls body(node) for the first node of each row of a box of a grid.
template <class Body>
void for_each_row(const Grid& grid, const NodeBox& box, const Body& body) {
  for (Index k = box.first[0]; k < box.last[0]; ++k)
    for (Index j = box.first[1]; j < box.last[1]; ++j) body(grid.index(k, j, box.first[2]));
}

/// Values on a grid, those in the box; none of none.
[[nodiscard]] std::vector<double> cut(const std::vector<double>& values, const Grid& grid, const NodeBox& box);

/// Points on a grid, with those of their taps that are in the box, on arrays of `part` whose first node is `origin`.
[[nodiscard]] std::vector<Point> points_in(const NodeBox& box, const Grid& grid, const std::vector<Point>& points,
                                           const Grid& part, const Triple& origin);

}  // namespace sonde::maxwell
