// SPDX-License-Identifier: Apache-2.0
// Private to the room: which cells and nodes of the arrays the objects of an input set.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sonde/instruments/maxwell/read/gprmax_model.h"

namespace sonde::maxwell {

/// Objects of an input from 1 on, voxels with a number for each of their materials; 0 is the free space before them.
using ObjectNumber = std::uint32_t;
[[nodiscard]] ObjectNumber numbers_of(const GprmaxObject& object);

/// Of the elements [first, last) of the arrays those for which `contains`, if there is one. Where `further` is there,
/// number + further(at) is the number of the element, and a negative value leaves it out.
struct GprmaxPart {
  ObjectNumber number = 0;
  Triple first{}, last{};
  std::function<bool(const Triple& at)> contains{};
  std::function<Index(const Triple& at)> further{};
};

struct GprmaxParts {
  struct Nodes {
    Component component = Component::Ex;
    GprmaxPart part;
  };
  std::vector<GprmaxPart> cells;  ///< of solids
  std::vector<Nodes> nodes;       ///< set by themselves: of plates, edges and voxels, without those that the grid lacks
};

/// In the order of the objects. A cell belongs to a curved object when its centre does.
[[nodiscard]] GprmaxParts parts_of(const GprmaxInput& input, const GprmaxAxes& axes, const Grid& grid);

/// The axes of a plane in alphabetical order.
[[nodiscard]] std::array<std::size_t, 2> axes_of_plane(std::size_t normal);
/// The axis along which a plate has no extent.
[[nodiscard]] std::size_t normal_of(const GprmaxPlate& plate, const Xyz& spacing);

}  // namespace sonde::maxwell
