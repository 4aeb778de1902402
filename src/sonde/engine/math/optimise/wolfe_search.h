// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "sonde/engine/base/index.h"

namespace sonde {

/// f(x + step d) and its derivative along d.
struct LinePoint {
  double step = 0, value = 0, slope = 0;
};

/// The conditions of Wolfe in the strong form: value <= value(0) + decrease step slope(0), |slope| <= curvature
/// |slope(0)|, with 0 < decrease < curvature < 1.
struct WolfeSettings {
  double decrease = 1e-4;
  double curvature = 0.1;  ///< 0.1 for conjugate gradients, 0.9 for methods whose first step is good
  Index most = 30;         ///< evaluations
};

struct WolfeResult {
  LinePoint at;        ///< the point of the last evaluation
  bool found = false;  ///< it has the conditions
  Index evaluations = 0;
};

/// A step along a direction of descent, `origin.slope` < 0, by Algorithms 3.5 and 3.6 of Nocedal and Wright (Numerical
/// Optimization, 2006): steps grow until an interval must contain one with the conditions, which cubic interpolation
/// then narrows down. Begins with `first` > 0. evaluate(step) returns the point there; it is called last for the point
/// that is returned, so that what it has left (the place, the gradient) belongs to it. Values that are not finite count
/// as too large a step. Not found: the interval has no more floating-point numbers or `most` evaluations were not
/// enough; the point is then that of the lowest value, which may be the origin, step 0.
[[nodiscard]] WolfeResult strong_wolfe(const LinePoint& origin, double first, const WolfeSettings& settings,
                                       const std::function<LinePoint(double step)>& evaluate);

}  // namespace sonde
