// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/correct/ordering.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace sonde::stem {
namespace {

TEST(MedianOfNine, IsTheFifthOfAnyOrder) {
  // A network of comparisons orders everything if it orders all sequences of zeros and ones (Knuth, TAOCP 3, 5.3.4).
  for (unsigned bits = 0; bits < 512; ++bits) {
    SCOPED_TRACE(bits);
    std::array<double, 9> values{};
    for (std::size_t i = 0; i < 9; ++i) values[i] = bits >> i & 1;
    EXPECT_EQ(median_of_nine(values), std::accumulate(values.begin(), values.end(), 0.0) >= 5 ? 1 : 0);
  }
}

std::vector<double> sorted(std::vector<double> values) {
  sort_values(values);
  return values;
}

TEST(SortValues, OrdersNumbersOfAllSizesAndSigns) {
  const double inf = std::numeric_limits<double>::infinity(), least = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(sorted({3, -inf, 0, least, -1e300, 1e-300, -least, inf, -2.5, 1e300}),
            (std::vector<double>{-inf, -1e300, -2.5, -least, 0, least, 1e-300, 3, 1e300, inf}));
  EXPECT_EQ(sorted({}), std::vector<double>{});
  EXPECT_EQ(sorted({7, 7, 7}), (std::vector<double>{7, 7, 7}));
}

TEST(SortValues, OrdersCountsAndMeansLikeTheStandardLibrary) {
  std::mt19937_64 random(5);
  std::vector<double> counts(5000), means(5000);
  for (double& value : counts) value = static_cast<double>(random() % 3000);
  for (double& value : means) value = static_cast<double>(random() % 3000) / 128 - 7 + std::ldexp(1.0, -40);
  for (const std::vector<double>& values : {counts, means}) {
    std::vector<double> expected = values;
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(sorted(values), expected);
  }
}

}  // namespace
}  // namespace sonde::stem
