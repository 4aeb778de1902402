// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/dose/flat_noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "sonde/engine/math/poisson.h"

namespace sonde::stem {
namespace {

constexpr Index rows = 70, cols = 90;

std::vector<float> counts_of(const std::vector<double>& rates, std::uint64_t stream) {
  std::vector<std::uint32_t> drawn(rates.size());
  draw_poisson({21, stream}, rates, drawn);
  return {drawn.begin(), drawn.end()};
}

FlatNoise noise_of(const std::vector<std::vector<float>>& patterns) {
  const std::vector<std::uint8_t> all(static_cast<std::size_t>(rows * cols), 1);
  FlatNoise noise;
  for (const auto& pattern : patterns) noise.add({pattern.data(), rows, cols}, all);
  return noise;
}

std::vector<double> slope(double middle) {
  std::vector<double> rates;
  for (Index row = 0; row < rows; ++row)
    for (Index col = 0; col < cols; ++col)
      rates.push_back(middle * (1 + 0.01 * static_cast<double>(row - 35) + 0.005 * static_cast<double>(col - 45)));
  return rates;
}

TEST(FlatNoise, OfElectronsIsOneForFewAndManyOnASlope) {
  for (const double middle : {0.1, 5.0, 400.0}) {
    const auto rates = slope(middle);
    const FlatNoise noise = noise_of({counts_of(rates, 1), counts_of(rates, 2), counts_of(rates, 3)});
    EXPECT_TRUE(noise.known()) << middle;
    EXPECT_NEAR(noise.ratio(), 1, 4 * noise.sigma()) << middle;
    EXPECT_LT(noise.sigma(), 0.05) << middle;
    EXPECT_FALSE(noise.not_poisson());
  }
}

TEST(FlatNoise, StatesTheScatterOfTheRatio) {
  const auto rates = slope(2);
  constexpr int trials = 60;
  double squares = 0, stated = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const FlatNoise noise = noise_of({counts_of(rates, static_cast<std::uint64_t>(10 + 2 * trial)),
                                      counts_of(rates, static_cast<std::uint64_t>(11 + 2 * trial))});
    squares += std::pow(noise.ratio() - 1, 2);
    stated += noise.sigma() * noise.sigma();
  }
  // The scatter of 60 numbers is known to 9 %, its square to 18 %; errors from 12 strips, which touch, to 21 % each.
  EXPECT_NEAR(squares / stated, 1, 0.6);
}

TEST(FlatNoise, OfAGainIsTheGain) {
  auto pattern = counts_of(slope(5), 7);
  for (float& value : pattern) value *= 2;
  const FlatNoise noise = noise_of({pattern, pattern, pattern});
  EXPECT_NEAR(noise.ratio(), 2, 0.2);
  EXPECT_TRUE(noise.not_poisson());
}

// Each electron is shared with the next pixel: neighbours are alike. Half the sum of two has half the variance, and
// weights (1 -1 -1 1) / 2 in place of (1 -2 1) along the rows: 1 / 6 of it.
TEST(FlatNoise, OfSmoothedCountsIsSmall) {
  auto pattern = counts_of(slope(50), 8);
  for (std::size_t i = 0; i + 1 < pattern.size(); ++i) pattern[i] = 0.5F * (pattern[i] + pattern[i + 1]);
  const FlatNoise noise = noise_of({pattern});
  EXPECT_NEAR(noise.ratio(), 1.0 / 6, 0.03);
  EXPECT_TRUE(noise.not_poisson());
}

TEST(FlatNoise, IsNotKnownOfFewPixelsOrCounts) {
  std::vector<std::uint8_t> flat(static_cast<std::size_t>(rows * cols), 0);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) flat[(20 + i) * cols + 30 + j] = 1;
  const auto pattern = counts_of(slope(5), 9);
  FlatNoise noise;
  noise.add({pattern.data(), rows, cols}, flat);
  EXPECT_EQ(noise.squares(), 1);
  EXPECT_FALSE(noise.known());
  EXPECT_FALSE(noise.not_poisson());
  EXPECT_FALSE(noise_of({std::vector<float>(static_cast<std::size_t>(rows * cols), 0)}).known());
}

}  // namespace
}  // namespace sonde::stem
