// SPDX-License-Identifier: Apache-2.0
// Whether the counts have the distribution they claim.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "sonde/engine/math/poisson.h"

namespace sonde {
namespace {

std::vector<std::uint32_t> draw(double rate, std::size_t count, std::uint64_t seed = 7) {
  const std::vector<double> rates(count, rate);
  std::vector<std::uint32_t> counts(count);
  draw_poisson({seed, 0}, rates, counts);
  return counts;
}

class PoissonOfRate : public ::testing::TestWithParam<double> {
 protected:
  static constexpr std::size_t n = 400000;
};

TEST_P(PoissonOfRate, HasTheMean) {
  double sum = 0;
  for (const auto count : draw(GetParam(), n)) sum += count;
  EXPECT_NEAR(sum / n, GetParam(), 5 * std::sqrt(GetParam() / n));  // five standard errors of a mean
}

TEST_P(PoissonOfRate, HasVarianceEqualToTheMean) {
  double sum = 0, squares = 0;
  for (const auto count : draw(GetParam(), n)) sum += count, squares += static_cast<double>(count) * count;
  const double mean = sum / n, variance = squares / n - mean * mean;
  EXPECT_NEAR(variance / mean, 1, 0.02);  // its standard error is sqrt((2 + 1 / rate) / n) <= 0.0072 for rate >= 0.05
}

TEST_P(PoissonOfRate, HasThePoissonDistribution) {
  const double rate = GetParam();
  std::vector<double> observed(static_cast<std::size_t>(rate + 40 * std::sqrt(rate) + 40), 0);
  for (const auto count : draw(rate, n, 11)) observed.at(count) += 1;
  // Counts that are expected fewer than ten times are taken together at both ends.
  double chi_square = 0, degrees = -1, low_observed = 0, low_expected = 0;
  for (std::size_t k = 0; k < observed.size(); ++k) {
    const double x = static_cast<double>(k);
    low_observed += observed[k];
    low_expected += n * std::exp(x * std::log(rate) - rate - std::lgamma(x + 1));
    if (low_expected < 10) continue;
    chi_square += (low_observed - low_expected) * (low_observed - low_expected) / low_expected;
    degrees += 1;
    low_observed = low_expected = 0;
  }
  chi_square +=
      low_observed > 0 ? (low_observed - low_expected) * (low_observed - low_expected) / (low_expected + 1) : 0;
  EXPECT_LT(chi_square, degrees + 1 + 5 * std::sqrt(2 * (degrees + 1)));  // mean and deviation of the distribution
}

// 32 is the last rate that is inverted; beyond follows rejection.
INSTANTIATE_TEST_SUITE_P(, PoissonOfRate,
                         ::testing::Values(0.05, 0.3, 1.0, 5.0, 11.0, 31.9, 32.0, 32.1, 100.0, 1000.0));

TEST(PoissonCounts, NeighboursAreIndependent) {
  const auto counts = draw(3, 100000, 23);
  double product = 0;
  for (std::size_t i = 0; i + 1 < counts.size(); ++i)
    product += (static_cast<double>(counts[i]) - 3) * (static_cast<double>(counts[i + 1]) - 3);
  EXPECT_NEAR(product / 100000, 0, 5 * 3 / std::sqrt(1e5));  // five standard errors of a covariance
}

}  // namespace
}  // namespace sonde
