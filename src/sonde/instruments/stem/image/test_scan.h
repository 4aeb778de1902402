// SPDX-License-Identifier: Apache-2.0
// For tests: a random scan in plain host memory, and the slow, obvious sums over it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/stem/image/mask.h"
#include "sonde/instruments/stem/layout/resident.h"
#include "sonde/instruments/stem/layout/transpose.h"

namespace sonde::stem::testing {

template <class T>
struct TestScan {
  Index positions, rows, cols;
  std::vector<T> counts;  // (positions, rows, cols)

  [[nodiscard]] Index pixels() const { return rows * cols; }
  [[nodiscard]] T at(Index position, Index pixel) const {
    return counts[static_cast<std::size_t>(position * pixels() + pixel)];
  }
  [[nodiscard]] Array frames(Stream& stream) const {
    return Array::from(counts, {positions, rows, cols}).copy_to(stream.device(), stream);
  }
  [[nodiscard]] Array planes(Stream& stream) const {
    Array made = make_planes(stream.device(), positions, rows, cols, dtype_of<T>);
    to_pixel_major(stream, frames(stream), made);
    return made;
  }
  /// The reference: one plain loop.
  [[nodiscard]] std::vector<std::uint64_t> image(const Mask& mask) const {
    std::vector<std::uint64_t> sums(static_cast<std::size_t>(positions), 0);
    for (Index position = 0; position < positions; ++position)
      for (const Index pixel : mask.pixels)
        sums[static_cast<std::size_t>(position)] += static_cast<std::uint64_t>(at(position, pixel));
    return sums;
  }
};

/// Mostly small counts, every eighth anything up to the largest.
template <class T>
TestScan<T> random_scan(Index positions, Index rows, Index cols, unsigned seed) {
  TestScan<T> scan{positions, rows, cols, {}};
  scan.counts.resize(static_cast<std::size_t>(positions * rows * cols));
  std::mt19937_64 random(seed);
  for (T& count : scan.counts) {
    const std::uint64_t bits = random();
    const std::uint64_t limit = (bits & 7) == 0 ? 0xFFFFFFFFu : 7u;
    if constexpr (std::is_floating_point_v<T>)
      count = static_cast<T>((bits >> 8) & 0xFFFF) / 256;
    else
      count = static_cast<T>((bits >> 8) & limit & std::numeric_limits<T>::max());
  }
  return scan;
}

inline Mask random_mask(Index rows, Index cols, double density, unsigned seed) {
  std::mt19937_64 random(seed);
  std::bernoulli_distribution chosen(density);
  std::vector<Index> pixels;
  for (Index pixel = 0; pixel < rows * cols; ++pixel)
    if (chosen(random)) pixels.push_back(pixel);
  return make_mask(rows, cols, std::move(pixels));
}

template <class T>
std::vector<T> host_elements(const Array& array) {
  Stream stream(array.device());
  const Array host = array.copy_to(Device::cpu(), stream);
  const auto* first = static_cast<const T*>(host.data());
  return std::vector<T>(first, first + host.count());
}

}  // namespace sonde::stem::testing
