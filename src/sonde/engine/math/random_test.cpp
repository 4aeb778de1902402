// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "sonde/engine/math/philox.h"

namespace sonde {
namespace {

TEST(Random, GivesTheBitsOfItsStreamInOrder) {
  const std::uint64_t seed = 0x123456789abcdef0, stream = 0xfedcba9876543210;
  Random random(seed, stream);
  for (std::uint32_t block = 0; block < 5; ++block) {
    const auto words = philox({block, 0, static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)},
                              {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
    EXPECT_EQ(random.bits(), std::uint64_t{words[1]} << 32 | words[0]);
    EXPECT_EQ(random.bits(), std::uint64_t{words[3]} << 32 | words[2]);
  }
}

TEST(Random, GoesOnWhereItsStateWasKept) {
  Random random(5, 9);
  for (int i = 0; i < 7; ++i) (void)random.bits();
  Random resumed(random.state());
  EXPECT_EQ(resumed.state(), random.state());
  EXPECT_EQ(resumed.permutation(50), random.permutation(50));
  EXPECT_EQ(resumed.normal(), random.normal());
  EXPECT_EQ(resumed.uniform(), random.uniform());
  EXPECT_EQ(resumed.state(), random.state());
}

/// Means of x, x^2, x^3 and x^4 with their standard errors from the moments of the distribution.
template <class Draw>
void expect_moments(Draw draw, const std::array<double, 4>& expected, const std::array<double, 4>& variance) {
  constexpr int count = 200000;
  std::array<double, 4> sum{};
  for (int i = 0; i < count; ++i) {
    const double x = draw(i);
    double power = 1;
    for (double& each : sum) each += power *= x;
  }
  for (std::size_t k = 0; k < 4; ++k)
    // Five standard errors: a right generator fails once in 2 million such numbers, and the seed is fixed.
    EXPECT_NEAR(sum[k] / count, expected[k], 5 * std::sqrt(variance[k] / count)) << "power " << k + 1;
}

TEST(Random, UniformNumbersHaveTheMomentsOfTheUnitInterval) {
  std::vector<double> drawn(200000);
  draw_uniform({1, 2}, drawn);
  Random random(2, 3);
  std::array<double, 4> mean{}, variance{};
  for (std::size_t k = 0; k < 4; ++k) {
    const double power = static_cast<double>(k) + 1;
    mean[k] = 1 / (power + 1);
    variance[k] = 1 / (2 * power + 1) - mean[k] * mean[k];
  }
  expect_moments([&](int i) { return drawn[static_cast<std::size_t>(i)]; }, mean, variance);
  expect_moments([&](int) { return random.uniform(); }, mean, variance);
}

TEST(Random, NormalNumbersHaveTheMomentsOfTheBell) {
  std::vector<double> drawn(200000);
  draw_normal({1, 2}, drawn);
  Random random(2, 3);
  // E x^2n = (2n - 1)!!: 1, 3, 15, 105.
  const std::array<double, 4> mean{0, 1, 0, 3}, variance{1, 3 - 1, 15, 105 - 9};
  expect_moments([&](int i) { return drawn[static_cast<std::size_t>(i)]; }, mean, variance);
  expect_moments([&](int) { return random.normal(); }, mean, variance);
}

TEST(Random, NormalNumbersLieBeyondEachBoundAsOftenAsTheBellSays) {
  std::vector<double> drawn(400000);
  draw_normal({11, 0}, drawn);
  for (const double bound : {-2.5, -1.0, 0.0, 0.5, 1.5, 3.0}) {
    const double expected = 0.5 * std::erfc(bound / std::sqrt(2.0));
    const auto beyond =
        static_cast<double>(std::count_if(drawn.begin(), drawn.end(), [&](double x) { return x > bound; }));
    const auto n = static_cast<double>(drawn.size());
    EXPECT_NEAR(beyond / n, expected, 5 * std::sqrt(expected * (1 - expected) / n)) << bound;
  }
}

TEST(Random, AnElementDependsOnItsPlaceAlone) {
  std::vector<double> all(1001), some(300);
  draw_normal({3, 5}, all);
  draw_normal({3, 5}, some);
  EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin()));
  draw_uniform({3, 5}, all);
  draw_uniform({3, 5}, some);
  EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin()));
  draw_uniform({3, 6}, some);
  EXPECT_FALSE(std::equal(some.begin(), some.end(), all.begin()));
}

TEST(Random, EveryNumberBelowIsEquallyLikely) {
  Random random(4, 0);
  constexpr int count = 70000, kinds = 7;
  std::array<int, kinds> seen{};
  for (int i = 0; i < count; ++i) ++seen[static_cast<std::size_t>(random.below(kinds))];
  for (const int each : seen) EXPECT_NEAR(each, count / kinds, 5 * std::sqrt(count / kinds));
  EXPECT_EQ(random.below(1), 0);
}

TEST(Random, EveryOrderIsEquallyLikely) {
  Random random(6, 0);
  std::map<std::vector<Index>, int> seen;
  constexpr int count = 24000;
  for (int i = 0; i < count; ++i) ++seen[random.permutation(4)];
  EXPECT_EQ(seen.size(), 24u);
  for (const auto& [order, times] : seen) {
    EXPECT_NEAR(times, count / 24, 5 * std::sqrt(count / 24));
    EXPECT_EQ(std::set<Index>(order.begin(), order.end()), (std::set<Index>{0, 1, 2, 3}));
  }
  EXPECT_TRUE(random.permutation(0).empty());
}

}  // namespace
}  // namespace sonde
