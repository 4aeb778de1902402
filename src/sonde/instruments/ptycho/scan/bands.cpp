// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/scan/bands.h"

#include <algorithm>
#include <cstddef>

#include "sonde/instruments/ptycho/scan/order.h"

namespace sonde::ptycho {

Bands make_bands(std::span<const Index> members, std::span<const Placement> placements, Window window,
                 BandLimits limits) {
  Bands result;
  const auto count = static_cast<Index>(members.size());
  if (count == 0) return result;
  std::vector<Point> points;
  points.reserve(members.size());
  for (const Index member : members) {
    const Placement& at = placements[static_cast<std::size_t>(member)];
    points.push_back({static_cast<double>(at.row) + at.shift_row, static_cast<double>(at.col) + at.shift_col});
  }
  result.order.reserve(members.size());
  for (const Index place : hilbert_order(points)) result.order.push_back(members[static_cast<std::size_t>(place)]);

  const Index bands = std::max<Index>(1, std::min(limits.most, count / limits.least_members));
  for (Index band = 0; band < bands; ++band) {
    const Index first = band * count / bands, last = (band + 1) * count / bands;
    const std::span<const Index> part =
        std::span<const Index>(result.order)
            .subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
    result.bands.push_back({first, last, box_of(part, placements, window)});
  }
  return result;
}

}  // namespace sonde::ptycho
