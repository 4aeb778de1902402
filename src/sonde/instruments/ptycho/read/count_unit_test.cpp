// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/read/count_unit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace sonde::ptycho {
namespace {

std::vector<int> poisson(double mean) {
  std::mt19937 random(7);
  std::poisson_distribution<int> draw(mean);
  std::vector<int> counts(20 * 16 * 16);
  for (int& count : counts) count = draw(random);
  return counts;
}

/// Those counts times `unit`, as T.
template <class T>
Array patterns(double mean, double unit) {
  std::vector<T> values;
  for (const int count : poisson(mean)) values.push_back(static_cast<T>(count * unit));
  return Array::from(values, Shape{20, 16, 16});
}

TEST(CountUnit, CountsOfAnyTypeAreCounts) {
  for (const double mean : {0.05, 3.0, 400.0}) {
    SCOPED_TRACE(mean);
    EXPECT_EQ(count_unit_of(patterns<std::uint16_t>(mean, 1)).counts_per_unit, 1);
    EXPECT_EQ(count_unit_of(patterns<float>(mean, 1)).counts_per_unit, 1);
    EXPECT_EQ(count_unit_of(patterns<double>(mean, 1)).counts_per_unit, 1);
  }
}

TEST(CountUnit, NormalisedCountsHaveTheirOwnUnit) {
  EXPECT_NEAR(count_unit_of(patterns<float>(3, 1.0 / 12345)).counts_per_unit / 12345, 1, 1e-6);
  EXPECT_NEAR(count_unit_of(patterns<double>(40, 0.37)).counts_per_unit * 0.37, 1, 1e-12);
}

TEST(CountUnit, IntegersWithACommonDivisorAreCountsInUnitsOfIt) {
  const CountUnit unit = count_unit_of(patterns<std::uint16_t>(3, 30));
  EXPECT_DOUBLE_EQ(unit.counts_per_unit, 1.0 / 30);
  EXPECT_EQ(unit.because, "every value is a multiple of 30");
}

TEST(CountUnit, AFlatFieldLeavesNoUnit) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> gain(0.9F, 1.1F);
  std::vector<float> values;
  for (const int count : poisson(5)) values.push_back(static_cast<float>(count) * gain(random));
  const CountUnit unit = count_unit_of(Array::from(values, Shape{20, 16, 16}));
  EXPECT_EQ(unit.counts_per_unit, 0);
  EXPECT_EQ(unit.because, "the values are fractions without a common unit");
}

/// Whole numbers of an analogue detector: counts times a gain with read-out noise, cut off at zero.
Array digitised(double mean, double gain, double noise) {
  std::mt19937 random(11);
  std::normal_distribution<double> read_out(0, noise);
  std::vector<std::uint16_t> values;
  for (int i = 0; i < 20; ++i)
    for (const int count : poisson(mean))
      values.push_back(static_cast<std::uint16_t>(std::max(0.0, std::round(gain * count + read_out(random)))));
  return Array::from(values, Shape{400, 16, 16});
}

TEST(CountUnit, WholeNumbersOfAnAnalogueDetectorLeaveNoUnit) {
  for (const auto& [gain, noise] : {std::pair(27.3, 3.0), std::pair(60.0, 2.0), std::pair(8.0, 1.0)}) {
    SCOPED_TRACE(gain);
    const CountUnit unit = count_unit_of(digitised(0.3, gain, noise));
    EXPECT_EQ(unit.counts_per_unit, 0);
    EXPECT_EQ(unit.because, "small values are more alike than counts can be");
  }
}

TEST(CountUnit, CountsOfAnyMixtureOfRatesAreCounts) {
  std::mt19937 random(5);
  std::exponential_distribution<double> speckle(1);
  for (const double mean : {0.02, 0.5, 5.0, 50.0, 500.0}) {
    SCOPED_TRACE(mean);
    std::vector<std::uint16_t> values, saturated;
    for (int i = 0; i < 200000; ++i) {
      std::poisson_distribution<int> draw(mean * speckle(random));
      const int count = draw(random);
      values.push_back(static_cast<std::uint16_t>(count));
      saturated.push_back(static_cast<std::uint16_t>(std::min(count, 15)));  // a counter of four bits
    }
    EXPECT_EQ(count_unit_of(Array::from(values, Shape{200, 20, 50})).counts_per_unit, 1);
    EXPECT_EQ(count_unit_of(Array::from(saturated, Shape{200, 20, 50})).counts_per_unit, 1);
  }
}

TEST(CountUnit, NothingCountedSaysNothing) {
  EXPECT_EQ(count_unit_of(patterns<float>(0, 1)).counts_per_unit, 1);
  EXPECT_EQ(count_unit_of(patterns<std::uint8_t>(0, 1)).counts_per_unit, 1);
}

}  // namespace
}  // namespace sonde::ptycho
