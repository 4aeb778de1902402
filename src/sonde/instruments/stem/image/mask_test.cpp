// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/image/mask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(MakeMask, SortsAndRemovesRepeats) {
  const Mask mask = make_mask(2, 3, {5, 0, 3, 0, 5});
  EXPECT_THAT(mask.pixels, ElementsAre(0, 3, 5));
  EXPECT_TRUE(mask.boolean());
  EXPECT_EQ(mask.area(), 3);
}

TEST(MakeMask, KeepsWeightsWithTheirPixels) {
  const Mask mask = make_mask(2, 3, {5, 0, 3}, {0.5f, 1.f, 0.f});
  EXPECT_THAT(mask.pixels, ElementsAre(0, 5));
  EXPECT_THAT(mask.weights, ElementsAre(1.f, 0.5f));
}

TEST(MakeMask, WeightsOfOneAreABooleanMask) {
  const Mask weighted = make_mask(2, 3, {5, 0, 3}, {1.f, 1.f, 1.f});
  EXPECT_TRUE(weighted.boolean());
  EXPECT_EQ(weighted.hash, make_mask(2, 3, {0, 3, 5}).hash);
}

TEST(MakeMask, HashTellsShapePixelsAndWeightsApart) {
  const std::uint64_t hash = make_mask(2, 3, {0, 1}).hash;
  EXPECT_EQ(hash, make_mask(2, 3, {1, 0}).hash);
  EXPECT_NE(hash, make_mask(3, 2, {0, 1}).hash);
  EXPECT_NE(hash, make_mask(2, 3, {0, 2}).hash);
  EXPECT_NE(hash, make_mask(2, 3, {0, 1}, {1.f, 0.5f}).hash);
}

TEST(MakeMask, PixelOutsideIsAnError) {
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input,
                                       [] {
                                         (void)make_mask(2, 3, {1, 6});
                                       }),
              HasSubstr("mask: pixel 6 is outside a detector of 2 x 3 pixels"));
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input,
                                       [] {
                                         (void)make_mask(2, 3, {1, -1});
                                       }),
              HasSubstr("pixel -1 is outside"));
}

TEST(MakeMask, WeightsThatMakeNoSenseAreErrors) {
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input,
                                       [] {
                                         (void)make_mask(2, 3, {1, 2}, {1.f});
                                       }),
              HasSubstr("mask: 2 pixels, but 1 weights"));
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input,
                                       [] {
                                         (void)make_mask(2, 3, {1, 1}, {1.f, 2.f});
                                       }),
              HasSubstr("mask: pixel 1 has two weights"));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input,
                                       [&] {
                                         (void)make_mask(2, 3, {1, 2}, {1.f, nan});
                                       }),
              HasSubstr("mask: the weight of pixel 2 is not a number"));
}

TEST(Accumulator, IsWideEnoughAndNoWider) {
  EXPECT_EQ(accumulator(DType::u8, 96 * 96), DType::u32);
  EXPECT_EQ(accumulator(DType::u16, 192 * 192), DType::u32);  // 65535 x 36864 = 2.4e9
  EXPECT_EQ(accumulator(DType::u16, 65537), DType::u32);      // 65535 x 65537 = 2^32 - 1
  EXPECT_EQ(accumulator(DType::u16, 65538), DType::u64);
  EXPECT_EQ(accumulator(DType::u32, 1), DType::u32);
  EXPECT_EQ(accumulator(DType::u32, 2), DType::u64);
}

}  // namespace
}  // namespace sonde::stem
