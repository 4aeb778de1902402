// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/signal/interpolation.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "sonde/engine/base/error.h"

namespace sonde::maxwell {
namespace {

constexpr Index half_width = 4;
constexpr double window_shape = 6.31;
constexpr double on_the_point = 1e-9;

/// The modified Bessel function I0(x) = sum over k of (x / 2)^2k / k!^2 for |x| of a few: all terms are positive, and
/// from k = x on each is less than a quarter of the one before.
double bessel_i0(double x) {
  const double square = x * x / 4;
  double term = 1, sum = 1;
  for (int k = 1; term > 1e-17 * sum; ++k) {
    term *= square / (static_cast<double>(k) * k);
    sum += term;
  }
  return sum;
}

double kaiser_sinc(double distance) {
  const double angle = std::numbers::pi * distance, part = distance / static_cast<double>(half_width);
  return std::sin(angle) / angle * bessel_i0(window_shape * std::sqrt(1 - part * part)) / bessel_i0(window_shape);
}

}  // namespace

Taps kaiser_sinc_taps(double position, Index count) {
  // 2^53: from there on a position has no fraction.
  if (!(std::abs(position) < 9007199254740992.0))
    throw Error(ErrorKind::bad_input, fmt::format("position {}; expected a finite number of cells", position));
  Taps result;
  const auto add = [&](Index index, double weight) {
    if (index >= 0 && index < count)
      result.taps.push_back({index, weight});
    else
      ++result.dropped;
  };
  const double nearest = std::round(position);
  if (std::abs(position - nearest) <= on_the_point) {
    add(static_cast<Index>(nearest), 1);
    return result;
  }
  const auto below = static_cast<Index>(std::floor(position));
  for (Index i = below - half_width + 1; i <= below + half_width; ++i)
    add(i, kaiser_sinc(position - static_cast<double>(i)));
  return result;
}

}  // namespace sonde::maxwell
