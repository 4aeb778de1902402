// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "sonde/instruments/ptycho/scan/positions.h"

namespace sonde::ptycho {

/// to = offset + matrix (from - centre), the least-squares fit between two lists of positions.
struct Affine {
  double row_row = 1, row_col = 0, col_row = 0, col_col = 1;
  Point centre, offset;

  [[nodiscard]] Point apply(Point from) const;
  /// sqrt of the determinant: how much larger the scan is than was said.
  [[nodiscard]] double scale() const;
  /// Of the closest rotation, radians, from rows towards columns.
  [[nodiscard]] double rotation() const;
  /// Half the difference of the two stretches over their mean: 0 for a rotation with scale.
  [[nodiscard]] double shear() const;
};

/// The identity and a shift where the positions lie on a line or are fewer than three.
[[nodiscard]] Affine fit_affine(std::span<const Point> from, std::span<const Point> to);

}  // namespace sonde::ptycho
