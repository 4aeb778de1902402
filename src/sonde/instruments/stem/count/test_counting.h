// SPDX-License-Identifier: Apache-2.0
// For tests: the counting rule as it reads, and noise with electrons in it.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "sonde/engine/math/random.h"
#include "sonde/instruments/stem/count/count_frame.h"

namespace sonde::stem::testing {

/// Every pixel against its neighbours, in double precision; only corrected values are rounded to single precision.
template <class T>
std::vector<std::uint32_t> counted_by_definition(const std::vector<T>& frame, Index rows, Index cols,
                                                 const FrameCorrection& correction, const CountLimits& limits) {
  const auto value = [&](Index row, Index col) {
    const auto i = static_cast<std::size_t>(row * cols + col);
    if (!correction.good.empty() && correction.good[i] == 0) return -HUGE_VAL;
    float v = static_cast<float>(frame[i]);
    if (!correction.dark.empty()) v -= correction.dark[i];
    if (!correction.gain.empty()) v *= correction.gain[i];
    return static_cast<double>(v);
  };
  struct Neighbour {
    int row, col;
    bool may_be_equal;
  };
  constexpr Neighbour neighbours[] = {{1, 0, true},   {0, 1, true},   {1, 1, true},   {-1, 1, true},
                                      {-1, 0, false}, {0, -1, false}, {1, -1, false}, {-1, -1, false}};
  std::vector<std::uint32_t> events;
  for (Index row = 0; row < rows; ++row)
    for (Index col = 0; col < cols; ++col) {
      const double here = value(row, col);
      bool event = here > limits.background && here < limits.xray;
      for (const auto& [down, across, may_be_equal] : neighbours) {
        const Index r = row + down, c = col + across;
        if (r < 0 || r >= rows || c < 0 || c >= cols) continue;
        event = event && (may_be_equal ? here >= value(r, c) : here > value(r, c));
      }
      if (event) events.push_back(static_cast<std::uint32_t>(row * cols + col));
    }
  return events;
}

/// Whole numbers: a pedestal, Gaussian noise, and in a share of pixels a deposit in this pixel and a tenth of it on
/// either side.
inline std::vector<float> noisy_values(Index frames, Index rows, Index cols, double pedestal, double sigma,
                                       double occupancy, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> values(static_cast<std::size_t>(frames * rows * cols));
  for (double& value : values) value = pedestal + sigma * random.normal();
  for (std::size_t i = 1; i + 1 < values.size(); ++i)
    if (random.uniform() < occupancy) {
      const double deposit = 30 - 8 * std::log(-std::log(random.uniform()));  // Gumbel
      values[i] += 0.8 * deposit;
      values[i - 1] += 0.1 * deposit;
      values[i + 1] += 0.1 * deposit;
    }
  std::vector<float> whole;
  for (const double value : values) whole.push_back(static_cast<float>(std::round(value)));
  return whole;
}

}  // namespace sonde::stem::testing
