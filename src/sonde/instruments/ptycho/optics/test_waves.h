// SPDX-License-Identifier: Apache-2.0
// Of tests only: waves with nothing special about them, and comparisons.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sonde/engine/array/array.h"
#include "sonde/engine/math/philox.h"

namespace sonde::ptycho {

/// Complex numbers with both parts between -1 and 1, the same for a seed.
inline Array random_waves(Shape shape, std::uint32_t seed = 1) {
  Array waves(Device::cpu(), shape, DType::c128);
  auto* values = static_cast<complex128*>(waves.data());
  for (Index i = 0; i < waves.count(); ++i) {
    const auto bits = philox({static_cast<std::uint32_t>(i), 0, 0, 0}, {seed, 0});
    values[i] = {2 * unit_interval(bits[0], bits[1]) - 1, 2 * unit_interval(bits[2], bits[3]) - 1};
  }
  return waves;
}

/// The largest |a - b|.
inline double largest_difference(const Array& a, const Array& b) {
  EXPECT_EQ(a.shape(), b.shape());
  const auto* left = static_cast<const complex128*>(a.data());
  const auto* right = static_cast<const complex128*>(b.data());
  double largest = 0;
  for (Index i = 0; i < a.count(); ++i) largest = std::max(largest, std::abs(left[i] - right[i]));
  return largest;
}

inline double sum_of_squares(const Array& waves) {
  const auto* values = static_cast<const complex128*>(waves.data());
  double sum = 0;
  for (Index i = 0; i < waves.count(); ++i) sum += std::norm(values[i]);
  return sum;
}

/// sum conj(a) b.
inline complex128 inner_product(const Array& a, const Array& b) {
  const auto* left = static_cast<const complex128*>(a.data());
  const auto* right = static_cast<const complex128*>(b.data());
  complex128 sum = 0;
  for (Index i = 0; i < a.count(); ++i) sum += std::conj(left[i]) * right[i];
  return sum;
}

}  // namespace sonde::ptycho
