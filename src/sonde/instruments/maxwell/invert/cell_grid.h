// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "sonde/instruments/maxwell/grid/component.h"

namespace sonde::maxwell {

/// The cells of a model, [z][y][x], as GridSpec has them. Along an axis of one cell nothing varies.
struct CellGrid {
  Triple cells{1, 1, 1};
  std::array<double, 3> spacing{1, 1, 1};  ///< m

  [[nodiscard]] Index count() const { return cells[0] * cells[1] * cells[2]; }
  /// Volume of a cell, or its area or length where the model does not vary along an axis.
  [[nodiscard]] double cell_volume() const {
    double volume = 1;
    for (std::size_t a = 0; a < 3; ++a) volume *= cells[a] > 1 ? spacing[a] : 1;
    return volume;
  }
};

/// Calls body(at, cell) for every cell in the order of arrays.
template <class Body>
void for_each_cell(const Triple& cells, const Body& body) {
  Triple at{};
  std::size_t cell = 0;
  for (at[0] = 0; at[0] < cells[0]; ++at[0])
    for (at[1] = 0; at[1] < cells[1]; ++at[1])
      for (at[2] = 0; at[2] < cells[2]; ++at[2]) body(at, cell++);
}

}  // namespace sonde::maxwell
