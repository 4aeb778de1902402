// SPDX-License-Identifier: Apache-2.0
// For the tests of this folder: random numbers, records, and derivatives by differences.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "sonde/instruments/maxwell/invert/gather.h"

namespace sonde::maxwell::testing {

inline std::vector<double> random_numbers(std::size_t count, unsigned seed, double low = -1, double high = 1) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  std::vector<double> numbers(count);
  for (double& each : numbers) each = uniform(engine);
  return numbers;
}

inline double product(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

inline double norm(std::span<const double> a) { return std::sqrt(product(a, a)); }

inline std::vector<double> moved(std::span<const double> from, double step, std::span<const double> along) {
  std::vector<double> there(from.begin(), from.end());
  for (std::size_t i = 0; i < there.size(); ++i) there[i] += step * along[i];
  return there;
}

/// A derivative against the central difference of the function along a random direction. Rounding 1e-16 / h and the
/// third derivative h^2 are both near 1e-10 at h = 1e-5; the sums of some hundred terms leave 1e-7.
inline void expect_derivative(const std::function<double(const std::vector<double>&)>& function,
                              const std::vector<double>& at, const std::vector<double>& gradient, unsigned seed = 99) {
  const std::vector<double> direction = random_numbers(at.size(), seed);
  const double h = 1e-5;
  const double difference = (function(moved(at, h, direction)) - function(moved(at, -h, direction))) / (2 * h);
  const double promised = product(gradient, direction);
  ASSERT_GT(norm(gradient), 0);
  EXPECT_NEAR(difference, promised, 1e-7 * norm(gradient) * norm(direction));
}

/// Pulses of a Ricker wavelet, `period` samples long, at other times and of other sizes on each trace.
inline Gather pulses(Index steps, Index receivers, double first, double period, double size = 1) {
  Gather gather(steps, receivers);
  for (Index r = 0; r < receivers; ++r)
    for (Index n = 0; n < steps; ++n) {
      const double u =
          std::pow(std::numbers::pi * (static_cast<double>(n) - first - 3.5 * static_cast<double>(r)) / period, 2);
      gather.traces()(r, n) = size * (1 + 0.3 * static_cast<double>(r)) * (1 - 2 * u) * std::exp(-u);
    }
  return gather;
}

}  // namespace sonde::maxwell::testing
