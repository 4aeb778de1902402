// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/dose/half_dose.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sonde/engine/math/poisson.h"

namespace sonde::stem {
namespace {

constexpr RandomStream halves{3, 9};

TEST(FirstHalf, IsAnyNumberUpToTheCounts) {
  for (const std::uint64_t counts : {0, 1, 31, 32, 33, 127, 128, 129, 100'000})
    for (std::uint32_t element = 0; element < 20; ++element) EXPECT_LE(first_half(halves, element, counts), counts);
  EXPECT_EQ(first_half(halves, 7, 0), 0U);
}

TEST(FirstHalf, DependsOnNothingButStreamElementAndCounts) {
  EXPECT_EQ(first_half(halves, 5, 1000), first_half({3, 9}, 5, 1000));
  EXPECT_NE(first_half(halves, 5, 1000), first_half({3, 10}, 5, 1000));
  EXPECT_NE(first_half(halves, 5, 1000), first_half({4, 9}, 5, 1000));
  EXPECT_NE(first_half(halves, 5, 1000), first_half(halves, 6, 1000));
}

// The probabilities of n! / (k! (n - k)! 2^n): chi squared of n + 1 values has n degrees of freedom, of variance 2 n.
TEST(FirstHalf, IsBinomial) {
  constexpr int draws = 20'000;
  for (const int counts : {1, 4, 7}) {
    std::vector<double> found(static_cast<std::size_t>(counts) + 1);
    for (std::uint32_t element = 0; element < draws; ++element)
      ++found[first_half(halves, element, static_cast<std::uint64_t>(counts))];
    double chi_squared = 0, expected = draws * std::pow(0.5, counts);
    for (int k = 0; k <= counts; ++k) {
      chi_squared += std::pow(found[static_cast<std::size_t>(k)] - expected, 2) / expected;
      expected *= static_cast<double>(counts - k) / (k + 1);
    }
    EXPECT_LT(chi_squared, counts + 4 * std::sqrt(2.0 * counts)) << counts;
  }
}

TEST(FirstHalf, OfManyCountsHasTheirMeanAndVariance) {
  constexpr int draws = 4000;
  constexpr std::uint64_t counts = 1001;
  double sum = 0, squares = 0;
  for (std::uint32_t element = 0; element < draws; ++element) {
    const double away = static_cast<double>(first_half(halves, element, counts)) - counts / 2.0;
    sum += away;
    squares += away * away;
  }
  // Standard errors of both: sqrt(n / 4 / draws) and a relative sqrt(2 / draws).
  EXPECT_NEAR(sum / draws, 0, 4 * std::sqrt(counts / 4.0 / draws));
  EXPECT_NEAR(squares / draws, counts / 4.0, 4 * counts / 4.0 * std::sqrt(2.0 / draws));
}

// Halves of Poisson counts are Poisson and know nothing of each other.
TEST(FirstHalf, HalvesOfElectronsAreIndependent) {
  constexpr std::size_t draws = 20'000;
  constexpr double rate = 3;
  std::vector<std::uint32_t> counts(draws);
  draw_poisson({1, 1}, std::vector<double>(draws, rate), counts);
  double together = 0, squares = 0;
  for (std::uint32_t i = 0; i < draws; ++i) {
    const auto first = static_cast<double>(first_half(halves, i, counts[i]));
    const double a = first - rate / 2, b = static_cast<double>(counts[i]) - first - rate / 2;
    together += a * b;
    squares += a * a;
  }
  EXPECT_NEAR(together / draws, 0, 4 * (rate / 2) / std::sqrt(draws));
  // The fourth moment of Poisson counts is 3 v^2 + v.
  EXPECT_NEAR(squares / draws, rate / 2, 4 * std::sqrt((2 * 1.5 * 1.5 + 1.5) / draws));
}

}  // namespace
}  // namespace sonde::stem
