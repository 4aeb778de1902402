// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/invert/mask.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "sonde/engine/base/error.h"

namespace sonde::maxwell {
namespace {

void require_lengths(double held, double taper) {
  if (!(held >= 0) || !(taper >= 0))
    throw Error(ErrorKind::bad_input,
                fmt::format("mask: {} m held and a taper of {} m; expected 0 or more", held, taper));
}

double released(double distance, double held, double taper) {
  if (distance <= held) return 0;
  if (distance >= held + taper) return 1;
  return (1 - std::cos(std::numbers::pi * (distance - held) / taper)) / 2;
}

}  // namespace

Mask hold_near(const CellGrid& grid, std::span<const std::array<double, 3>> places, double radius, double taper) {
  require_lengths(radius, taper);
  Mask mask(static_cast<std::size_t>(grid.count()), 1.0);
  for_each_cell(grid.cells, [&](const Triple& at, std::size_t cell) {
    double nearest = std::numeric_limits<double>::infinity();
    for (const auto& place : places) {
      double squared = 0;
      for (std::size_t a = 0; a < 3; ++a)
        if (grid.cells[a] > 1) squared += std::pow((static_cast<double>(at[a]) - place[a]) * grid.spacing[a], 2);
      nearest = std::min(nearest, squared);
    }
    mask[cell] = released(std::sqrt(nearest), radius, taper);
  });
  return mask;
}

Mask hold_above(const CellGrid& grid, double depth, double taper) {
  require_lengths(depth, taper);
  Mask mask(static_cast<std::size_t>(grid.count()));
  for_each_cell(grid.cells, [&](const Triple& at, std::size_t cell) {
    // A depth of 0 holds nothing, not even plane 0.
    mask[cell] = depth == 0 && taper == 0 ? 1 : released(static_cast<double>(at[0]) * grid.spacing[0], depth, taper);
  });
  return mask;
}

void require_mask(const Mask& mask, const CellGrid& grid) {
  if (static_cast<Index>(mask.size()) != grid.count())
    throw Error(ErrorKind::bad_input, fmt::format("mask: {} elements, the model has {}", mask.size(), grid.count()));
  for (std::size_t i = 0; i < mask.size(); ++i)
    if (!(mask[i] >= 0 && mask[i] <= 1))
      throw Error(ErrorKind::bad_input, fmt::format("mask: element {} is {}; expected 0 to 1", i, mask[i]));
}

}  // namespace sonde::maxwell
