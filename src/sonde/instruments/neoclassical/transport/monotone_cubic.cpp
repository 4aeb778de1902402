// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/transport/monotone_cubic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sonde/engine/base/error.h"

namespace sonde::neoclassical {

AxisPlace place_on(std::span<const double> axis, double x) {
  if (axis.size() < 2) return {};
  const auto above = std::upper_bound(axis.begin() + 1, axis.end() - 1, x);
  const auto left = static_cast<std::size_t>(above - axis.begin()) - 1;
  const double width = axis[left + 1] - axis[left];
  return {left, (x - axis[left]) / width, width};
}

double inner_slope(double h0, double h1, double d0, double d1) {
  if (!(d0 * d1 > 0)) return 0;
  const double w0 = 2 * h1 + h0, w1 = h1 + 2 * h0;
  return (w0 + w1) / (w0 / d0 + w1 / d1);
}

double end_slope(double h0, double h1, double d0, double d1) {
  const double slope = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1);
  if (slope * d0 <= 0) return 0;
  if (d0 * d1 <= 0 && std::abs(slope) > 3 * std::abs(d0)) return 3 * d0;
  return slope;
}

std::vector<double> monotone_slopes(std::span<const double> axis, std::span<const double> values) {
  const std::size_t n = axis.size();
  std::vector<double> slopes(n, 0);
  if (n < 2) return slopes;
  const auto width = [&](std::size_t i) { return axis[i + 1] - axis[i]; };
  const auto secant = [&](std::size_t i) { return (values[i + 1] - values[i]) / width(i); };
  if (n == 2) return {secant(0), secant(0)};
  slopes.front() = end_slope(width(0), width(1), secant(0), secant(1));
  slopes.back() = end_slope(width(n - 2), width(n - 3), secant(n - 2), secant(n - 3));
  for (std::size_t i = 1; i + 1 < n; ++i) slopes[i] = inner_slope(width(i - 1), width(i), secant(i - 1), secant(i));
  return slopes;
}

double monotone_between(std::span<const double> axis, std::span<const double> values, const AxisPlace& at) {
  const std::size_t n = axis.size(), i = at.left;
  if (n == 1) return values[0];
  const auto width = [&](std::size_t k) { return axis[k + 1] - axis[k]; };
  const auto secant = [&](std::size_t k) { return (values[k + 1] - values[k]) / width(k); };
  const double here = secant(i);
  double left = here, right = here;
  if (i > 0)
    left = inner_slope(width(i - 1), at.width, secant(i - 1), here);
  else if (n > 2)
    left = end_slope(at.width, width(1), here, secant(1));
  if (i + 2 < n)
    right = inner_slope(at.width, width(i + 1), here, secant(i + 1));
  else if (n > 2)
    right = end_slope(at.width, width(i - 1), here, secant(i - 1));
  const HermiteWeights weight(at.part);
  return weight.value_left * values[i] + weight.value_right * values[i + 1] +
         at.width * (weight.slope_left * left + weight.slope_right * right);
}

MonotoneCubic::MonotoneCubic(std::vector<double> x, std::vector<double> y, const char* name)
    : x_(std::move(x)), y_(std::move(y)) {
  if (x_.empty() || x_.size() != y_.size())
    throw Error(ErrorKind::bad_input, fmt::format("{}: {} places and {} values", name, x_.size(), y_.size()));
  for (std::size_t i = 0; i < x_.size(); ++i) {
    if (!std::isfinite(x_[i]) || !std::isfinite(y_[i]))
      throw Error(ErrorKind::bad_input, fmt::format("{}: {} at {} is not a finite number", name, y_[i], x_[i]));
    if (i > 0 && !(x_[i] > x_[i - 1]))
      throw Error(ErrorKind::bad_input,
                  fmt::format("{}: the places do not increase: {} after {}", name, x_[i], x_[i - 1]));
  }
  slope_ = monotone_slopes(x_, y_);
  for (std::size_t i = 0; i < x_.size(); ++i)
    if (!std::isfinite(slope_[i]))
      throw Error(ErrorKind::bad_input,
                  fmt::format("{}: the places around {} are too close to each other", name, x_[i]));
}

double MonotoneCubic::value(double x) const {
  if (x <= x_.front()) return y_.front() + slope_.front() * (x - x_.front());
  if (x >= x_.back()) return y_.back() + slope_.back() * (x - x_.back());
  const AxisPlace at = place_on(x_, x);
  const HermiteWeights weight(at.part);
  return weight.value_left * y_[at.left] + weight.value_right * y_[at.left + 1] +
         at.width * (weight.slope_left * slope_[at.left] + weight.slope_right * slope_[at.left + 1]);
}

double MonotoneCubic::slope(double x) const {
  if (x <= x_.front()) return slope_.front();
  if (x >= x_.back()) return slope_.back();
  const AxisPlace at = place_on(x_, x);
  const double t = at.part;
  return 6 * t * (1 - t) * (y_[at.left + 1] - y_[at.left]) / at.width + (1 - t) * (1 - 3 * t) * slope_[at.left] +
         t * (3 * t - 2) * slope_[at.left + 1];
}

}  // namespace sonde::neoclassical
