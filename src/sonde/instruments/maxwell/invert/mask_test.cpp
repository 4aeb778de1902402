// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/invert/mask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace sonde::maxwell {
namespace {

const CellGrid masked{{3, 1, 7}, {0.5, 9, 0.2}};

TEST(HoldNear, HoldsWithinTheRadiusAndFreesBeyondTheTaper) {
  const std::vector<std::array<double, 3>> places{{0, 0, 1}};
  const Mask mask = hold_near(masked, places, 0.2, 0.4);
  // Distances in row 0 are 0.2 m a cell; half a cosine from 0.2 to 0.6 m.
  EXPECT_EQ(mask[0], 0);
  EXPECT_EQ(mask[1], 0);
  EXPECT_EQ(mask[2], 0);
  EXPECT_NEAR(mask[3], 0.5, 1e-12);
  EXPECT_NEAR(mask[4], 1, 1e-12);
  EXPECT_EQ(mask[5], 1);
  EXPECT_EQ(mask[14 + 1], 1);  // 1 m below
}

TEST(HoldNear, TakesTheNearestOfSeveralPlaces) {
  const std::vector<std::array<double, 3>> places{{0, 0, 0}, {2, 0, 6}};
  const Mask mask = hold_near(masked, places, 0.1, 0);
  EXPECT_EQ(mask[0], 0);
  EXPECT_EQ(mask[20], 0);
  EXPECT_EQ(mask[10], 1);
}

TEST(HoldAbove, HoldsTheUppermostPlanes) {
  EXPECT_THAT(hold_above({{4, 1, 1}, {0.5, 1, 1}}, 0.5, 0), ::testing::ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(hold_above({{4, 1, 1}, {0.5, 1, 1}}, 0, 0), ::testing::Each(1));
}

TEST(Mask, ElementsOutsideOfZeroToOneAreErrors) {
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input,
                                       [] {
                                         require_mask({0, 1, 1.5}, {{3, 1, 1}});
                                       }),
              ::testing::HasSubstr("mask: element 2 is 1.5; expected 0 to 1"));
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input,
                                       [] {
                                         require_mask({0, 1}, {{3, 1, 1}});
                                       }),
              ::testing::HasSubstr("mask: 2 elements, the model has 3"));
}

TEST(Mask, LengthsBelowZeroAreErrors) {
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [] { (void)hold_above(masked, -1, 0.5); }),
              ::testing::HasSubstr("mask: -1 m held and a taper of 0.5 m; expected 0 or more"));
}

}  // namespace
}  // namespace sonde::maxwell
