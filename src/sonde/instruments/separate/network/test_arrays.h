// SPDX-License-Identifier: Apache-2.0
// Comparing a network's arrays with those of a reference.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/io/npy.h"

namespace sonde::separate {

/// The elements of an NPY file of float32.
inline std::vector<double> doubles(const Array& array) {
  const auto* x = static_cast<const float*>(array.data());
  return {x, x + array.count()};
}

inline std::vector<double> doubles(const std::vector<float>& values) { return {values.begin(), values.end()}; }

/// |x - y| / |y|, both as one long vector.
inline double relative_difference(std::span<const double> x, std::span<const double> y) {
  double difference = 0, size = 0;
  if (x.size() != y.size()) return HUGE_VAL;
  for (std::size_t i = 0; i < x.size(); ++i) {
    difference += (x[i] - y[i]) * (x[i] - y[i]);
    size += y[i] * y[i];
  }
  return std::sqrt(difference / size);
}

/// (channels, rows, columns) with the last two axes exchanged.
inline std::vector<double> exchanged(std::span<const double> x, Index channels, Index rows, Index columns) {
  std::vector<double> y(x.size());
  for (Index i = 0; i < channels; ++i) {
    for (Index r = 0; r < rows; ++r) {
      for (Index c = 0; c < columns; ++c) {
        y[static_cast<std::size_t>((i * columns + c) * rows + r)] =
            x[static_cast<std::size_t>((i * rows + r) * columns + c)];
      }
    }
  }
  return y;
}

}  // namespace sonde::separate
