// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/ptycho/scan/positions.h"

namespace sonde::ptycho {

/// The size of a pattern, of the probe, and of the part of the object that it sees; pixels.
struct Window {
  Index rows = 0, cols = 0;
};

/// A rectangle of whole pixels: rows [row, row + rows), columns [col, col + cols).
struct Box {
  Index row = 0, col = 0, rows = 0, cols = 0;
  friend bool operator==(const Box&, const Box&) = default;
};

/// Where a window lies in the object: the object pixel of its index [0,0], and by how much the probe inside is shifted
/// beyond whole pixels, in [-1/2, 1/2).
struct Placement {
  Index row = 0, col = 0;
  double shift_row = 0, shift_col = 0;
  friend bool operator==(const Placement&, const Placement&) = default;
};

/// Origin round(r) - floor(n / 2) and fraction r - round(r) of a position in object pixels; halves round up.
[[nodiscard]] Placement place(Point position, Window window);
[[nodiscard]] std::vector<Placement> place_all(std::span<const Point> positions, Window window);

/// The size of an object that holds all windows with `margin` pixels around them, and the whole pixels that are added
/// to every position so that they lie inside.
struct ObjectExtent {
  Index rows = 0, cols = 0;
  Point offset;
};

/// The smallest such object. The margin is what positions may move (refinement); the windows themselves already reach
/// floor(n / 2) beyond the positions. Throws Error(bad_input) without positions, and for positions that are not finite
/// or further than 2^30 pixels apart.
[[nodiscard]] ObjectExtent object_extent(std::span<const Point> positions, Window window, Index margin = 0);

/// The positions with the extent's offset added.
[[nodiscard]] std::vector<Point> moved(std::span<const Point> positions, Point offset);

/// Throws Error(bad_input) naming the first window that does not lie inside an object of rows x cols.
void require_inside(std::span<const Placement> placements, Window window, Index rows, Index cols);

/// The smallest box that holds the windows of these positions; at least one.
[[nodiscard]] Box box_of(std::span<const Index> members, std::span<const Placement> placements, Window window);

/// The part of the object that counts: the bounding box of the positions, rounded to whole pixels, both ends included.
[[nodiscard]] Box field_of_view(std::span<const Point> positions);

}  // namespace sonde::ptycho
