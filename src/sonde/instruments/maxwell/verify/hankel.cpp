// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/verify/hankel.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace sonde::maxwell {
namespace {

constexpr std::complex<double> minus_j{0, -1};

/// Where the rounding of the power series, exp(|z|) of its sum, meets the smallest term of the other one, exp(-2 |z|).
constexpr double series_radius = 12;

Hankel by_power_series(std::complex<double> z) {
  const std::complex<double> q = -z * z / 4.0;
  std::complex<double> term = 1, j0 = 0, j1 = 0, y0 = 0, y1 = 0;
  double harmonic = 0;  // 1 + 1/2 + ... + 1/k
  for (int k = 0;; ++k) {
    if (k > 0) {
      harmonic += 1.0 / k;
      term *= q / static_cast<double>(k * k);
    }
    const std::complex<double> next = term / static_cast<double>(k + 1);
    j0 += term;
    j1 += next;
    y0 -= harmonic * term;
    y1 -= (2 * harmonic + 1.0 / (k + 1)) * next;
    if (std::abs(term) * (1 + harmonic) < 1e-3 * std::numeric_limits<double>::epsilon()) break;
  }
  const std::complex<double> half = z / 2.0, log = std::log(half) + std::numbers::egamma;
  constexpr double pi = std::numbers::pi;
  j1 *= half;
  y0 = 2 / pi * (log * j0 + y0);
  y1 = -2.0 / (pi * z) + 2 / pi * log * j1 + half * y1 / pi;
  return {j0 + minus_j * y0, j1 + minus_j * y1};
}

std::complex<double> asymptotic(double order, std::complex<double> z) {
  std::complex<double> term = 1, sum = 1;
  for (int k = 1; k < 100; ++k) {
    const double odd = 2 * k - 1;
    const std::complex<double> next = term * minus_j * (4 * order * order - odd * odd) / (8.0 * k * z);
    // The terms fall and then grow.
    if (std::abs(next) > std::abs(term) || std::abs(next) < 1e-17) break;
    term = next;
    sum += term;
  }
  const std::complex<double> phase = z - (order / 2 + 0.25) * std::numbers::pi;
  return std::sqrt(2.0 / (std::numbers::pi * z)) * std::exp(minus_j * phase) * sum;
}

}  // namespace

Hankel hankel_second_kind(std::complex<double> z) {
  if (std::abs(z) < series_radius) return by_power_series(z);
  return {asymptotic(0, z), asymptotic(1, z)};
}

}  // namespace sonde::maxwell
