// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/stem/phase/vector_field.h"

namespace sonde::stem {

/// The surface that centres of mass are measured from.
enum class OriginFit { none, mean, plane, parabola };

/// A polynomial in the position for either component: with u = 2 col / (cols - 1) - 1 and v = 2 row / (rows - 1) - 1
/// (0 where there is one), the terms 1, u, v, u^2, u v, v^2.
struct Origin {
  static constexpr int most_terms = 6;

  Index rows = 1, cols = 1;
  int terms = most_terms;  ///< that the surface has; the others are 0
  std::array<double, most_terms> x{}, y{};
  Index used = 0, dropped = 0;  ///< positions that the last round took and left out
  double rms = 0;               ///< of what is left, over those used

  struct At {
    double x = 0, y = 0;
  };
  [[nodiscard]] At at(Index row, Index col) const;
};

/// Least squares with the counts as weights, in three rounds after the first one, each without the positions that are
/// more than twice the weighted rms away (py4DSTEM's robust fit). `none` gives zero. A plane or a parabola also takes
/// what is slow in the specimen's own field away: use it for vacuum, or where nothing else is known. Throws
/// Error(bad_input) where fewer valid positions remain than the surface has terms, or where they do not determine it.
[[nodiscard]] Origin fit_origin(const VectorField& field, OriginFit fit);

/// The field without the surface.
[[nodiscard]] VectorField measured_from(VectorField field, const Origin& origin);

}  // namespace sonde::stem
