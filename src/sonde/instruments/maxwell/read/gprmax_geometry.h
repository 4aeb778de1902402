// SPDX-License-Identifier: Apache-2.0
// Private to the room: what the objects of an input make of the nodes.
#pragma once

#include <vector>

#include "sonde/instruments/maxwell/read/gprmax_shapes.h"

namespace sonde::maxwell {

/// The objects of an input on the cells of its domain.
class GprmaxGeometry {
 public:
  /// `grid` and the materials of `input` must outlive this.
  GprmaxGeometry(const GprmaxInput& input, const GprmaxAxes& axes, const Grid& grid);

  /// At the nodes of all components, by the rules of GprmaxModel::medium, without the resistances of sources.
  [[nodiscard]] ComponentMedium medium() const;

  /// Of a cell, for E along the arrays' x, y or z: one of those of the input.
  [[nodiscard]] const GprmaxMaterial& material(const Triple& cell, std::size_t along) const;

  struct Mean {
    double eps_r = 0, mu_r = 0;
  };
  /// Over one plane of cells.
  [[nodiscard]] Mean mean_of_plane(Axis axis, Index plane) const;

 private:
  struct Paint {
    std::array<const GprmaxMaterial*, 3> materials{};  ///< of the arrays' x, y, z
    bool averaged = true;
    ObjectNumber rank = 0;  ///< a larger one replaces a smaller one; equal for all materials of voxels
  };

  void fill_cells();
  /// The objects of the cells around a node: four at an E edge, two at an H face, each of these twice. At a wall those
  /// inside count for those outside.
  [[nodiscard]] std::array<ObjectNumber, 4> around(Component c, const Triple& at) const;
  /// The last one that is not averaged, 0 if there is none; of cells of one rank the one further along x, then y, then
  /// z of the file.
  [[nodiscard]] ObjectNumber last_rigid(Component c, const std::array<ObjectNumber, 4>& cells) const;
  void fill_node(Component c, const Triple& at, ComponentMedium& made) const;
  void set(Component c, std::size_t node, ObjectNumber number, ComponentMedium& made) const;
  void set_mean(Component c, std::size_t node, const std::array<ObjectNumber, 4>& cells, ComponentMedium& made) const;

  const Grid* grid_;
  GprmaxAxes axes_;
  GprmaxParts parts_;
  std::vector<Paint> paints_;  // [number]
  std::vector<ObjectNumber> cells_;
  std::size_t poles_;
};

/// The largest number of Debye poles of a material that an object has.
[[nodiscard]] std::size_t most_poles(const GprmaxInput& input);

}  // namespace sonde::maxwell
