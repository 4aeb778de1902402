// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/base/sampling.h"

#include <gtest/gtest.h>

#include <set>

namespace sonde {
namespace {

TEST(SpreadSample, TakesOneOfEachStretch) {
  for (Index i = 0; i < 32; ++i) EXPECT_EQ(spread_sample(i, 32, 16384) / 512, i);
}

TEST(SpreadSample, TakesAllOfAsMany) {
  for (Index i = 0; i < 7; ++i) EXPECT_EQ(spread_sample(i, 7, 7), i);
}

TEST(SpreadSample, MeetsEveryPartOfARow) {
  // Stretches of 512 are four rows of 128: equal steps would meet column 0 only.
  std::set<Index> sixteenths;
  for (Index i = 0; i < 32; ++i) sixteenths.insert(spread_sample(i, 32, 16384) % 128 / 8);
  EXPECT_GE(sixteenths.size(), 14u);
}

}  // namespace
}  // namespace sonde
