// SPDX-License-Identifier: Apache-2.0
// Electrons at known places, as counting finds them with nothing but the frames.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "sonde/instruments/stem/count/count_frame.h"
#include "sonde/instruments/stem/count/count_thresholds.h"
#include "sonde/instruments/stem/simulate/frames.h"
#include "sonde/instruments/stem/simulate/simulate.h"

namespace sonde::stem {
namespace {

constexpr Index rows_seen = 190, cols_seen = 230, frames_seen = 12;

/// How many electrons have a counted pixel of their own within a pixel: the nearest pairs first.
Index matched(const std::vector<std::uint32_t>& counted, const std::vector<FallenElectron>& fallen) {
  std::vector<std::tuple<double, std::size_t, std::size_t>> pairs;
  for (std::size_t i = 0; i < counted.size(); ++i)
    for (std::size_t j = 0; j < fallen.size(); ++j) {
      const double down = static_cast<double>(counted[i] / cols_seen) - static_cast<double>(fallen[j].y);
      if (std::abs(down) > 1) continue;
      const double distance =
          std::hypot(down, static_cast<double>(counted[i] % cols_seen) - static_cast<double>(fallen[j].x));
      if (distance <= 1) pairs.emplace_back(distance, i, j);
    }
  std::sort(pairs.begin(), pairs.end());
  std::vector<bool> taken(counted.size()), met(fallen.size());
  Index found = 0;
  for (const auto& [distance, i, j] : pairs) {
    if (taken[i] || met[j]) continue;
    taken[i] = met[j] = true;
    ++found;
  }
  return found;
}

struct Found {
  double recall = 0, precision = 0;
};

Found found_in(double occupancy, Index seed, bool uneven = false) {
  SimulateOptions options;
  options.sample = Sample::counting;
  options.scan_shape = "3,4";
  options.detector_shape = "190,230";
  options.masked_pixels = options.hot_pixels = 0;
  options.occupancy = occupancy;
  options.seed = seed;
  if (uneven) {
    options.dark_spread = 3;
    options.gain_spread = 0.05;
  }
  const Model model = model_of(options);
  const auto drawn = static_cast<std::uint64_t>(seed);
  const Array frames = simulate_frames(model, drawn, 0, frames_seen, DType::u16);
  const auto* values = static_cast<const std::uint16_t*>(frames.data());
  FrameCorrection correction;
  if (uneven) {
    correction.dark = model.integrating()->dark();
    correction.gain = model.integrating()->gain();
  }
  FrameSample sample{.rows = rows_seen, .cols = cols_seen, .whole = !uneven, .step = uneven ? 1.0 : 0.0};
  const CountRule corrected(rows_seen, cols_seen, correction, {});
  sample.values.resize(static_cast<std::size_t>(frames.count()));
  for (Index row = 0; row < frames_seen * rows_seen; ++row)
    corrected.correct(values + row / rows_seen * rows_seen * cols_seen, row % rows_seen,
                      sample.values.data() + row * cols_seen);
  const CountRule rule(rows_seen, cols_seen, correction, find_thresholds(sample, {}).limits);
  CountRule::Scratch scratch(rule);
  double all = 0, counted = 0, right = 0;
  for (Index frame = 0; frame < frames_seen; ++frame) {
    std::vector<std::uint32_t> events;
    (void)rule.count(values + frame * rows_seen * cols_seen, 65535, scratch, events);
    const auto fallen = simulated_electrons(model, drawn, frame);
    all += static_cast<double>(fallen.size());
    counted += static_cast<double>(events.size());
    right += static_cast<double>(matched(events, fallen));
  }
  return {right / all, right / counted};
}

class CountedSimulation : public ::testing::TestWithParam<Index> {};

// Limits are those of the specification of counting. What is found of n electrons scatters by sqrt(share (1 - share) /
// n): 0.004, 0.003 and 0.003 for 524, 2600 and 10500 electrons, a fifth of the distance from what is usual.
TEST_P(CountedSimulation, FindsElectronsWhereFewPixelsHaveOne) {
  const auto [recall, precision] = found_in(0.001, GetParam());
  EXPECT_GE(recall, 0.975);
  EXPECT_GE(precision, 0.99);
}

TEST_P(CountedSimulation, FindsElectronsWhereSomePixelsHaveOne) {
  const auto [recall, precision] = found_in(0.005, GetParam());
  EXPECT_GE(recall, 0.955);
  EXPECT_GE(precision, 0.99);
}

TEST_P(CountedSimulation, FindsElectronsWhereManyPixelsHaveOne) {
  const auto [recall, precision] = found_in(0.02, GetParam());
  EXPECT_GE(recall, 0.885);
  EXPECT_GE(precision, 0.99);
}

TEST_P(CountedSimulation, FindsElectronsOfUnevenPixelsWithTheirDarkAndGainImage) {
  const auto [recall, precision] = found_in(0.005, GetParam(), true);
  EXPECT_GE(recall, 0.955);
  EXPECT_GE(precision, 0.99);
}

INSTANTIATE_TEST_SUITE_P(Seeds, CountedSimulation, ::testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace sonde::stem
