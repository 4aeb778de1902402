// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sonde/instruments/maxwell/grid/component.h"

namespace sonde::maxwell {

/// Cells of a geometry file of gprMax (user guide, "#geometry_objects_read"): numbers of materials, counted from 0 in
/// the materials file that goes with it, in the axes of the file.
struct GprmaxVoxels {
  std::array<double, 3> spacing{};  ///< m, of its cells along x, y, z
  std::array<Index, 3> count{};     ///< along x, y, z
  std::vector<std::int16_t> cells;  ///< [x][y][z]; -1: what was there before stays
  /// [Ex, Ey, Ez, Hx, Hy, Hz][x][y][z] on one more node along each axis: where the file sets a node by itself, its
  /// number; -1 where the node follows from the cells around it. Empty: every cell sets all of its own.
  std::vector<std::int16_t> nodes{};

  [[nodiscard]] std::int16_t cell(const std::array<Index, 3>& at) const {
    return cells[static_cast<std::size_t>((at[0] * count[1] + at[1]) * count[2] + at[2])];
  }
  [[nodiscard]] std::int16_t node(Component c, const std::array<Index, 3>& at) const {
    const Index kind = static_cast<Index>(c);
    return nodes[static_cast<std::size_t>(((kind * (count[0] + 1) + at[0]) * (count[1] + 1) + at[1]) * (count[2] + 1) +
                                          at[2])];
  }
  /// The largest number; -1: there is none.
  [[nodiscard]] std::int16_t largest() const;
};

/// Reads /data and, where gprMax has written them, /rigidE, /rigidH and /ID: a node is set by itself when a cell around
/// it says that it is rigid. Throws Error(bad_file) for other files, shapes that contradict each other, and numbers
/// that are no material.
[[nodiscard]] GprmaxVoxels read_gprmax_voxels(const std::string& path);
using GprmaxVoxelReader = std::function<GprmaxVoxels(const std::string& path)>;

}  // namespace sonde::maxwell
