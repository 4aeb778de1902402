// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

namespace sonde::neoclassical {

/// Where a value lies on an increasing axis: between nodes `left` and `left + 1`, at `part` of the way. Outside, it is
/// the first or last interval with a part below 0 or above 1. An axis of one node: left 0, part 0, width 1.
struct AxisPlace {
  std::size_t left = 0;
  double part = 0, width = 1;
};
[[nodiscard]] AxisPlace place_on(std::span<const double> axis, double x);

/// The weights of the cubic Hermite polynomial at `part`: value = v0 l.value + v1 r.value + s0 l.slope + s1 r.slope
/// (the slopes already times the width).
struct HermiteWeights {
  explicit HermiteWeights(double part)
      : value_left((1 + 2 * part) * (1 - part) * (1 - part)),
        value_right(part * part * (3 - 2 * part)),
        slope_left(part * (1 - part) * (1 - part)),
        slope_right(part * part * (part - 1)) {}
  double value_left, value_right, slope_left, slope_right;
};

/// The slope at a node between two intervals of widths h0, h1 and secants d0, d1: their weighted harmonic mean, 0
/// where they differ in sign (Fritsch and Butland 1984). Between monotone data the cubic is monotone.
[[nodiscard]] double inner_slope(double h0, double h1, double d0, double d1);
/// At the end of an axis, with the nearest interval first: the parabola's slope, limited to keep monotonicity.
[[nodiscard]] double end_slope(double h0, double h1, double d0, double d1);

/// One slope per node of values at `axis`; both of equal length, at least 1.
[[nodiscard]] std::vector<double> monotone_slopes(std::span<const double> axis, std::span<const double> values);

/// The monotone cubic at `at` of `axis`, only from the values of that interval and its neighbours: what MonotoneCubic
/// gives, for a single place. Both spans equally long.
[[nodiscard]] double monotone_between(std::span<const double> axis, std::span<const double> values,
                                      const AxisPlace& at);

/// A curve through points that is monotone between them. Outside it continues with the slope of the end point.
class MonotoneCubic {
 public:
  /// Throws Error(bad_input) when the lengths differ or are zero, x does not increase, or a value or
  /// slope is not finite; `name` says what it is.
  MonotoneCubic(std::vector<double> x, std::vector<double> y, const char* name);

  [[nodiscard]] double value(double x) const;
  [[nodiscard]] double slope(double x) const;

 private:
  std::vector<double> x_, y_, slope_;
};

}  // namespace sonde::neoclassical
