// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace sonde::stem {

struct Point {
  double row = 0, col = 0;
};

struct Circle {
  double row = 0, col = 0, radius = 0;
};

/// The circle through a cloud of at least three points by the algebraic fit of Taubin (IEEE Trans. Pattern Anal. Mach.
/// Intell. 13 (1991) 1115): minimises sum (d^2 - radius^2)^2 / mean gradient^2, which, unlike the plain algebraic fit,
/// does not shrink circles seen as an arc. A radius of 0 says that the points lie on a line. Cost: two passes over the
/// points.
[[nodiscard]] Circle fit_circle(std::span<const Point> points);

}  // namespace sonde::stem
