// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/ptycho/optics/sampling.h"

namespace sonde::ptycho {

/// A place on the specimen, rows downwards, columns to the right; in A or in object pixels, as the user of it says.
/// The position of a pattern is the place of index floor(n / 2) of the probe's window.
struct Point {
  double row = 0, col = 0;
  friend bool operator==(const Point&, const Point&) = default;
};

/// A scan in lines. The point (iy step_row, ix step_col) is first transposed (rows and columns exchanged) when asked,
/// then turned by `rotation` about the mean of all points, counter-clockwise as seen with rows upwards:
///   col' = col cos + row sin, row' = row cos - col sin.
struct Raster {
  Index rows = 1, cols = 1;
  double step_row = 0, step_col = 0;
  bool transpose = false;
  double rotation = 0;  ///< rad
};

/// The points of a raster in the order of the scan, line after line, in the unit of its steps. Throws Error(bad_input)
/// for sizes below 1 and for steps that are not finite.
[[nodiscard]] std::vector<Point> raster_positions(const Raster& raster);

enum class LengthUnit { angstrom, pixel };
/// What a list of positions means: the place of the window's index [0,0], or of its index floor(n / 2).
enum class Reference { window_corner, window_centre };

/// Positions of a list in object pixels, for the window's index floor(n / 2). Throws Error(not_supported) for A without
/// a calibration, Error(bad_input) for values that are not finite (naming the first).
[[nodiscard]] std::vector<Point> listed_positions(std::span<const Point> list, LengthUnit unit, Reference reference,
                                                  const Sampling& sampling);

/// The same places in the other unit.
[[nodiscard]] std::vector<Point> in_pixels(std::span<const Point> positions_a, const Sampling& sampling);
[[nodiscard]] std::vector<Point> in_angstrom(std::span<const Point> positions_px, const Sampling& sampling);

}  // namespace sonde::ptycho
