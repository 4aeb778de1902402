// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/optimise/wolfe_search.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

namespace sonde {
namespace {

bool finite(const LinePoint& at) { return std::isfinite(at.value) && std::isfinite(at.slope); }

double middle_of(const LinePoint& a, const LinePoint& b) { return a.step + (b.step - a.step) / 2; }

/// The minimum of the cubic with the values and slopes of both ends (Nocedal and Wright, eq. 3.59); the middle where
/// the cubic has none inside, and where an end is not finite.
double between(const LinePoint& a, const LinePoint& b) {
  const double middle = middle_of(a, b);
  if (!finite(a) || !finite(b)) return middle;
  const double d1 = a.slope + b.slope - 3 * (a.value - b.value) / (a.step - b.step);
  const double under_root = d1 * d1 - a.slope * b.slope;
  if (!(under_root >= 0)) return middle;
  const double d2 = std::copysign(std::sqrt(under_root), b.step - a.step);
  const double step = b.step - (b.step - a.step) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2));
  return step > std::min(a.step, b.step) && step < std::max(a.step, b.step) ? step : middle;
}

class Search {
 public:
  Search(const LinePoint& origin, const WolfeSettings& settings, const std::function<LinePoint(double step)>& evaluate)
      : origin_(origin), settings_(settings), evaluate_(evaluate), lowest_(origin) {}

  WolfeResult run(double first) {
    LinePoint before = origin_;
    double step = first;
    while (left()) {
      const LinePoint at = look(step);
      if (too_high(at) || (before.step > 0 && at.value >= before.value)) return narrow(before, at);
      if (flat(at)) return found(at);
      if (at.slope >= 0) return narrow(at, before);
      // Further on: to where the secant of the slopes is zero, if that is far enough.
      const double guess = before.step - (before.step - at.step) * ratio(before, at);
      before = at;
      step = std::clamp(guess, 2 * at.step, 10 * at.step);
      if (!std::isfinite(step)) step = 2 * at.step;
    }
    return not_found();
  }

 private:
  /// Where the secant of the slopes is zero: 0 at the first point, 1 at the second.
  static double ratio(const LinePoint& a, const LinePoint& b) { return a.slope / (a.slope - b.slope); }

  [[nodiscard]] bool left() const { return evaluations_ < settings_.most; }
  LinePoint look(double step) {
    ++evaluations_;
    last_ = evaluate_(step);
    last_.step = step;
    if (finite(last_) && last_.value < lowest_.value) lowest_ = last_;
    return last_;
  }
  [[nodiscard]] bool too_high(const LinePoint& at) const {
    return !finite(at) || at.value > origin_.value + settings_.decrease * at.step * origin_.slope;
  }
  [[nodiscard]] bool flat(const LinePoint& at) const {
    return std::abs(at.slope) <= -settings_.curvature * origin_.slope;
  }
  [[nodiscard]] WolfeResult found(const LinePoint& at) const { return {at, true, evaluations_}; }
  WolfeResult not_found() {
    if (last_.step != lowest_.step) (void)look(lowest_.step);
    return {lowest_, false, evaluations_};
  }

  /// Algorithm 3.6: `low` has the lowest value of those with enough decrease, and its slope points to `high`.
  WolfeResult narrow(LinePoint low, LinePoint high) {
    double before = std::numeric_limits<double>::infinity();  // the width two trials ago, and one
    double last = before;
    while (left()) {
      // Near the end of a wide interval the cubic gains little: two trials must take away a third (Moré and Thuente,
      // ACM Trans. Math. Softw. 20 (1994) 286, section 4).
      const double width = std::abs(high.step - low.step);
      const double step = width > 0.66 * before ? middle_of(low, high) : between(low, high);
      before = std::exchange(last, width);
      if (step == low.step || step == high.step) break;  // no number is left between
      const LinePoint at = look(step);
      // Values that are alike but for rounding say nothing: then slopes decide.
      const double rounding = 4 * std::numeric_limits<double>::epsilon() * std::abs(low.value);
      if (too_high(at) || at.value > low.value + rounding) {
        high = at;
        continue;
      }
      if (flat(at)) return found(at);
      if (at.slope * (high.step - low.step) >= 0) high = low;
      low = at;
    }
    return not_found();
  }

  LinePoint origin_;
  WolfeSettings settings_;
  const std::function<LinePoint(double step)>& evaluate_;
  LinePoint lowest_, last_;
  Index evaluations_ = 0;
};

}  // namespace

WolfeResult strong_wolfe(const LinePoint& origin, double first, const WolfeSettings& settings,
                         const std::function<LinePoint(double step)>& evaluate) {
  assert(origin.slope < 0 && first > 0);
  return Search(origin, settings, evaluate).run(first);
}

}  // namespace sonde
