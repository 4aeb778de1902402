// SPDX-License-Identifier: Apache-2.0
// Functions with known minima, and their gradients.
#pragma once

#include <cmath>
#include <numbers>
#include <random>
#include <span>
#include <vector>

#include "sonde/engine/math/optimise/objective.h"

namespace sonde::testing {

using Numbers = std::vector<double>;

/// J. J. Moré, B. S. Garbow and K. E. Hillstrom, ACM Trans. Math. Softw. 7 (1981) 17, problem 21: sum over pairs of
/// 100 (y - x^2)^2 + (1 - x)^2; begins at (-1.2, 1, ...), minimum 0 at (1, ..., 1). A pair is Rosenbrock's function.
template <class Real>
double extended_rosenbrock(std::span<const Real> x, std::span<Real> gradient) {
  double value = 0;
  for (std::size_t i = 0; i + 1 < x.size(); i += 2) {
    const double a = static_cast<double>(x[i]), b = static_cast<double>(x[i + 1]) - a * a;
    value += 100 * b * b + (1 - a) * (1 - a);
    gradient[i] = static_cast<Real>(-400 * a * b - 2 * (1 - a));
    gradient[i + 1] = static_cast<Real>(200 * b);
  }
  return value;
}

/// The same collection, problem 14, of Wood: begins at (-3, -1, -3, -1), minimum 0 at (1, 1, 1, 1).
inline double wood(std::span<const double> x, std::span<double> g) {
  const double a = x[1] - x[0] * x[0], b = 1 - x[0], c = x[3] - x[2] * x[2], d = 1 - x[2], e = x[1] + x[3] - 2,
               f = x[1] - x[3];
  g[0] = -400 * a * x[0] - 2 * b;
  g[1] = 200 * a + 20 * e + 0.2 * f;
  g[2] = -360 * c * x[2] - 2 * d;
  g[3] = 180 * c + 20 * e - 0.2 * f;
  return 100 * a * a + b * b + 90 * c * c + d * d + 10 * e * e + 0.1 * f * f;
}

/// The same collection, problem 5, of Beale: begins at (1, 1), minimum 0 at (3, 1/2).
inline double beale(std::span<const double> x, std::span<double> g) {
  double value = 0, power = 1, before = 0;
  g[0] = g[1] = 0;
  const double targets[] = {1.5, 2.25, 2.625};
  for (int i = 1; i <= 3; ++i) {
    before = power;
    power *= x[1];
    const double f = targets[i - 1] - x[0] * (1 - power);
    value += f * f;
    g[0] -= 2 * f * (1 - power);
    g[1] += 2 * f * x[0] * i * before;
  }
  return value;
}

/// x' A x / 2 - b' x with A = sum of v v' + diagonal: symmetric, eigenvalues from about 1 to 2 n.
struct Quadratic {
  explicit Quadratic(std::size_t n, unsigned seed = 1) : size(n), a(n * n), b(n) {
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal;
    Numbers v(n * n);
    for (double& each : v) each = normal(generator);
    for (double& each : b) each = normal(generator);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t k = 0; k < n; ++k) a[i * n + j] += v[i * n + k] * v[j * n + k] / 2;
        if (i == j) a[i * n + j] += 1;
      }
  }
  [[nodiscard]] Numbers times(std::span<const double> x) const {
    Numbers product(size);
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < size; ++j) product[i] += a[i * size + j] * x[j];
    return product;
  }
  double operator()(std::span<const double> x, std::span<double> gradient) const {
    const Numbers ax = times(x);
    double value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      gradient[i] = ax[i] - b[i];
      value += x[i] * (ax[i] / 2 - b[i]);
    }
    return value;
  }
  std::size_t size;
  Numbers a, b;
};

}  // namespace sonde::testing
