// SPDX-License-Identifier: Apache-2.0
// Private to the room: functions of sums and products only, which every processor rounds alike. Those of the
// mathematical library differ in the last bit from one processor to the next.
#pragma once

#include <cmath>

#include "sonde/engine/math/random.h"

namespace sonde::separate::exact {

/// sin(2 pi turns), with an error below 1e-9.
[[nodiscard]] inline double sine(double turns) {
  double part = turns - std::floor(turns + 0.5);  // -1/2 to 1/2
  if (part > 0.25) part = 0.5 - part;
  if (part < -0.25) part = -0.5 - part;
  const double x = part * 6.283185307179586, y = x * x;
  // The series of Taylor, which ends with x^13 / 13!: |x| <= pi / 2.
  return x * (1 - y / 6 * (1 - y / 20 * (1 - y / 42 * (1 - y / 72 * (1 - y / 110 * (1 - y / 156))))));
}

/// exp(x) for -4 <= x <= 0, with a relative error below 1e-12.
[[nodiscard]] inline double exponential(double x) {
  const double part = x / 1024;
  double value = 1 + part * (1 + part / 2 * (1 + part / 3 * (1 + part / 4 * (1 + part / 5))));
  for (int i = 0; i < 10; ++i) value *= value;
  return value;
}

/// Mean 0 and variance 1, nearly normal: the sum of twelve uniform numbers.
[[nodiscard]] inline double normal(Random& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return sum;
}

/// White noise of variance 1, uniform: for sounds its distribution counts for nothing.
[[nodiscard]] inline double noise(Random& random) { return 3.4641016151377544 * (random.uniform() - 0.5); }

}  // namespace sonde::separate::exact
