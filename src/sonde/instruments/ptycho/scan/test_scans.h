// SPDX-License-Identifier: Apache-2.0
// Of tests only: scans to cut into batches, and what must hold for every cut.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "sonde/engine/math/philox.h"
#include "sonde/instruments/ptycho/scan/placement.h"

namespace sonde::ptycho {

/// Windows anywhere in an object of rows x cols, some of them twice.
inline std::vector<Placement> scattered(Index count, double rows, double cols, std::uint32_t seed = 1) {
  std::vector<Placement> placements;
  for (std::uint32_t i = 0; static_cast<Index>(i) < count; ++i) {
    const auto bits = philox({i, 0, 0, 0}, {seed, 0});
    placements.push_back(
        place({rows * unit_interval(bits[0], bits[1]), cols * unit_interval(bits[2], bits[3])}, {2, 2}));
  }
  return placements;
}

inline std::vector<Placement> raster(Index rows, Index cols, double step) {
  return place_all(raster_positions({.rows = rows, .cols = cols, .step_row = step, .step_col = step}), {2, 2});
}

inline std::vector<Index> all_of(std::span<const Placement> placements) {
  std::vector<Index> numbers(placements.size());
  std::iota(numbers.begin(), numbers.end(), Index{0});
  return numbers;
}

inline std::vector<Index> sorted(std::vector<Index> values) {
  std::sort(values.begin(), values.end());
  return values;
}

}  // namespace sonde::ptycho
