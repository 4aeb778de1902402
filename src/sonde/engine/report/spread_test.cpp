// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/report/spread.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace sonde {
namespace {

TEST(Spread, MedianOfOddAndEvenCounts) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({7}), 7);
}

TEST(Spread, OneOutlierMovesNeitherMedianNorMad) {
  const Spread spread = spread_of({1.0, 1.1, 0.9, 1.0, 1000.0});
  EXPECT_EQ(spread.median, 1.0);
  EXPECT_NEAR(spread.mad, 0.1, 1e-12);  // rounding of 1.1 - 1.0
  EXPECT_EQ(spread.min, 0.9);
  EXPECT_EQ(spread.samples, 5);
}

TEST(Spread, NoValuesGiveZeros) {
  EXPECT_EQ(spread_of({}).samples, 0);
  EXPECT_EQ(spread_of({}).uncertainty(), 0);
}

TEST(Spread, UncertaintyIsTheDeviationOfTheMedianOfNormalNoise) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(10, 1);
  std::vector<double> medians, claimed;
  for (int trial = 0; trial < 400; ++trial) {
    std::vector<double> values(101);
    for (double& value : values) value = noise(random);
    const Spread spread = spread_of(values);
    medians.push_back(spread.median);
    claimed.push_back(spread.uncertainty());
  }
  double square = 0;
  for (const double each : medians) square += (each - 10) * (each - 10);
  const double observed = std::sqrt(square / static_cast<double>(medians.size()));
  // 400 trials determine a standard deviation to 1/sqrt(800) = 3.5 %; four of those.
  EXPECT_NEAR(median(claimed) / observed, 1.0, 0.14);
}

}  // namespace
}  // namespace sonde
