// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "sonde/instruments/maxwell/grid/component.h"

namespace sonde::maxwell {

enum class Mode {
  tm2d,  ///< Ey, Hx, Hz on (z, x); nothing depends on y
  em3d   ///< all six components
};

/// Cells of the model, and the absorbing layers around it. Settings of order and spacing are checked by Grid.
struct GridSpec {
  Mode mode = Mode::tm2d;
  Triple cells{1, 1, 1};                      ///< of the model, without layers; one along y in tm2d
  std::array<double, 3> spacing{1, 1, 1};     ///< m; along y of no meaning in tm2d
  std::array<std::array<Index, 2>, 3> pml{};  ///< width in cells at the low and high end; 0: a conducting wall there
  int order = 2;                              ///< of the spatial stencils: 2, 4, 6 or 8

  friend bool operator==(const GridSpec&, const GridSpec&) = default;
};

/// The model with its layers: N = cells + widths along each axis, planes 0 to N and half planes between. Arrays hold N
/// elements along an axis; plane N is on a wall and zero. A perfect conductor ends every axis, behind the layer if
/// there is one.
class Grid {
 public:
  /// Throws Error(bad_input) for sizes, spacing or order that make no grid: an axis needs as many cells as the stencil
  /// is wide.
  explicit Grid(const GridSpec& spec);

  [[nodiscard]] const GridSpec& spec() const { return spec_; }
  [[nodiscard]] int order() const { return spec_.order; }
  [[nodiscard]] double spacing(Axis axis) const { return spec_.spacing[dimension(axis)]; }
  [[nodiscard]] Index cells(Axis axis) const { return spec_.cells[dimension(axis)]; }
  [[nodiscard]] Index low(Axis axis) const { return spec_.pml[dimension(axis)][0]; }
  [[nodiscard]] Index high(Axis axis) const { return spec_.pml[dimension(axis)][1]; }
  [[nodiscard]] Index extent(Axis axis) const { return extents_[dimension(axis)]; }
  [[nodiscard]] const Triple& extents() const { return extents_; }
  [[nodiscard]] Index count() const { return extents_[0] * extents_[1] * extents_[2]; }
  [[nodiscard]] Index index(Index k, Index j, Index i) const { return (k * extents_[1] + j) * extents_[2] + i; }

  [[nodiscard]] bool has(Axis axis) const { return spec_.mode == Mode::em3d || axis != Axis::y; }
  [[nodiscard]] bool has(Component c) const;
  /// Those of this mode, electric first.
  [[nodiscard]] const std::vector<Component>& components() const { return components_; }
  /// Volume of a cell, or its area in tm2d: what turns the moment of a source into a density.
  [[nodiscard]] double cell_volume() const;
  /// Whether a component's node lies on a wall that makes it zero: tangential E on plane 0.
  [[nodiscard]] bool on_wall(Component c, const Triple& at) const;

 private:
  GridSpec spec_;
  Triple extents_{};
  std::vector<Component> components_;
};

/// Calls body(at, node) for every node of an array on the grid, in its order.
template <class Body>
void for_each_node(const Grid& grid, const Body& body) {
  Triple at{};
  std::size_t node = 0;
  for (at[0] = 0; at[0] < grid.extent(Axis::z); ++at[0])
    for (at[1] = 0; at[1] < grid.extent(Axis::y); ++at[1])
      for (at[2] = 0; at[2] < grid.extent(Axis::x); ++at[2]) body(at, node++);
}

}  // namespace sonde::maxwell
