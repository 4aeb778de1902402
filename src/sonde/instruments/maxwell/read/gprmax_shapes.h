// SPDX-License-Identifier: Apache-2.0
// Private to the room: which cells and nodes of the arrays the objects of an input set.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sonde/instruments/maxwell/read/gprmax_model.h"

namespace sonde::maxwell {

/// Objects of an input from 1 on; 0 is the free space before them. A larger number replaces a smaller one.
using ObjectNumber = std::uint32_t;

/// Of the elements [first, last) of the arrays those for which `contains`, if there is one.
struct GprmaxPart {
  ObjectNumber number = 0;
  Triple first{}, last{};
  std::function<bool(const Triple& at)> contains{};
};

struct GprmaxParts {
  struct Nodes {
    Component component = Component::Ex;
    GprmaxPart part;
  };
  std::vector<GprmaxPart> cells;  ///< of solids
  std::vector<Nodes> nodes;       ///< of plates and edges, without those that the grid lacks
};

/// In the order of the objects. A cell belongs to a curved object when its centre does.
[[nodiscard]] GprmaxParts parts_of(const GprmaxInput& input, const GprmaxAxes& axes, const Grid& grid);

/// The axes of a plane in alphabetical order.
[[nodiscard]] std::array<std::size_t, 2> axes_of_plane(std::size_t normal);
/// The axis along which a plate has no extent.
[[nodiscard]] std::size_t normal_of(const GprmaxPlate& plate, const Xyz& spacing);

}  // namespace sonde::maxwell
