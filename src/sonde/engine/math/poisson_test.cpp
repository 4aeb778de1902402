// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/poisson.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sonde/engine/math/philox.h"
#include "tests/support/errors.h"

namespace sonde {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

std::vector<std::uint32_t> draw(double rate, std::size_t count, std::uint64_t seed = 7, std::uint64_t stream = 0) {
  const std::vector<double> rates(count, rate);
  std::vector<std::uint32_t> counts(count);
  draw_poisson({seed, stream}, rates, counts);
  return counts;
}

TEST(Poisson, ARateOfZeroGivesNoCounts) { EXPECT_THAT(draw(0, 1000), Each(0u)); }

TEST(Poisson, AnElementDependsOnItsPlaceAlone) {
  std::vector<double> rates(1000);
  for (std::size_t i = 0; i < rates.size(); ++i) rates[i] = 0.05 * static_cast<double>(i);
  std::vector<std::uint32_t> all(1000), some(300), changed(1000);
  draw_poisson({3, 5}, rates, all);
  draw_poisson({3, 5}, std::span(rates).first(300), some);
  EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin()));
  std::vector<double> others(1000, 40.0);
  others[777] = rates[777];
  draw_poisson({3, 5}, others, changed);
  EXPECT_EQ(changed[777], all[777]);
}

TEST(Poisson, InvertsThePhiloxBitsOfTheElement) {
  // The definition in words: bits of counter (element / 2, 0, stream), the first or second 64 of them; the count is the
  // number of k with P(count <= k) < u.
  const double rate = 2.7;
  const std::uint64_t seed = 0x123456789abcdef0, stream = 0xfedcba9876543210;
  const auto counts = draw(rate, 600, seed, stream);
  for (std::uint32_t i = 0; i < 600; ++i) {
    const auto bits = philox({i / 2, 0, static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)},
                             {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
    const double u = i % 2 == 0 ? unit_interval(bits[0], bits[1]) : unit_interval(bits[2], bits[3]);
    std::uint32_t k = 0;
    double term = std::exp(-rate), sum = term;
    while (u > sum) sum += term *= rate / ++k;
    EXPECT_EQ(counts[i], k) << i;
  }
}

TEST(Poisson, StreamsAndSeedsDiffer) {
  EXPECT_NE(draw(5, 100, 1, 1), draw(5, 100, 1, 2));
  EXPECT_NE(draw(5, 100, 1, 1), draw(5, 100, 2, 1));
  EXPECT_NE(draw(5, 100, 1, 0), draw(5, 100, 1, std::uint64_t{1} << 32));
}

TEST(Poisson, ImpossibleRatesAreErrors) {
  for (const double rate : {-1.0, 2e9, std::nan("")})
    EXPECT_THAT(testing::error_of(ErrorKind::bad_input, [&] { (void)draw(rate, 10); }),
                HasSubstr("rates must be between 0 and"));
}

TEST(Poisson, SizesMustAgree) {
  const std::vector<double> rates(3, 1.0);
  std::vector<std::uint32_t> counts(4);
  EXPECT_THAT(testing::error_of(ErrorKind::bad_input, [&] { draw_poisson({}, rates, counts); }),
              HasSubstr("3 rates for 4 counts"));
}

}  // namespace
}  // namespace sonde
