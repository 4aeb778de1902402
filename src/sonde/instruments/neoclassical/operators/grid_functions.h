// SPDX-License-Identifier: Apache-2.0
// Private to the instrument: what is done with functions on a grid, or their coefficients in a basis, as vectors.
#pragma once

#include <array>
#include <cassert>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

namespace sonde::neoclassical {

/// a . b, the products and their sum in `Sum`.
template <class Sum = double>
[[nodiscard]] Sum dot(std::span<const double> a, std::span<const double> b) {
  assert(a.size() <= b.size());
  return std::inner_product(a.begin(), a.end(), b.begin(), Sum{0}, std::plus<>(),
                            [](double x, double y) { return Sum{x} * y; });
}

/// The largest magnitude. A NaN is larger than every number.
[[nodiscard]] inline double largest(std::span<const double> x) {
  double found = 0;
  for (const double value : x)
    if (!(std::abs(value) <= found)) found = std::abs(value);
  return found;
}

/// Of the functions of k = 0, 1, 2.
[[nodiscard]] inline double largest(const std::array<std::vector<double>, 3>& functions) {
  const std::array<double, 3> each{largest(functions[0]), largest(functions[1]), largest(functions[2])};
  return largest(each);
}

/// f -= unit (unit . f) for a vector of length one, in the precision of f.
template <class T>
void take_out(std::span<const double> unit, std::span<T> f) {
  T along = 0;
  for (std::size_t p = 0; p < unit.size(); ++p) along += unit[p] * f[p];
  for (std::size_t p = 0; p < unit.size(); ++p) f[p] -= along * unit[p];
}

}  // namespace sonde::neoclassical
