// SPDX-License-Identifier: Apache-2.0
// Private to the room: how positions were moved, as arrows over the images.
#pragma once

#include <vector>

#include "sonde/engine/options/value.h"
#include "sonde/instruments/ptycho/model/state.h"

namespace sonde::ptycho {

/// The images of shown_object(state, view, step), in whose pixels arrows are given: [0, 0] is the upper left corner.
struct ShownView {
  Box box;
  Index step = 1;
};

/// {"arrows": [row, column, rows, columns, ...]: where a position was and by how much it moved; "longer": by what they
/// are to be drawn longer; "one_of": so many positions, evenly along the scan; "rms_px", "largest_px": of all, in
/// object pixels}. At most 400 arrows. Null while nothing has moved. `scan_step`: typical distance of positions, object
/// pixels.
[[nodiscard]] Value shown_moves(const std::vector<Point>& from, const std::vector<Point>& to, const ShownView& view,
                                double scan_step);

}  // namespace sonde::ptycho
