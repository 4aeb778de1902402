// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <vector>

#include "sonde/instruments/maxwell/invert/cell_grid.h"

namespace sonde::maxwell {

/// How far each cell of a model may change, [z][y][x]: 1 free, 0 held, between them a share of the change. Masks that
/// hold for one model are multiplied.
using Mask = std::vector<double>;

/// Holds cells within `radius` m of any of these places and frees those farther than radius + taper, with half a cosine
/// between: gradients are largest at sources and receivers, where nothing is learnt of the medium. Places in cells from
/// plane 0, (z, y, x); element i of the model is at plane i. Throws Error(bad_input) for a radius or taper below 0.
[[nodiscard]] Mask hold_near(const CellGrid& grid, std::span<const std::array<double, 3>> places, double radius,
                             double taper);

/// Holds the uppermost cells: air, or a layer that is known. `depth` and `taper` in m from plane 0. Throws like
/// hold_near().
[[nodiscard]] Mask hold_above(const CellGrid& grid, double depth, double taper);

/// Throws Error(bad_input) when `mask` is not of this many cells or has elements outside of 0 to 1.
void require_mask(const Mask& mask, const CellGrid& grid);

}  // namespace sonde::maxwell
