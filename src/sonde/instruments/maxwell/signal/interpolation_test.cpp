// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/signal/interpolation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "tests/support/errors.h"

namespace sonde::maxwell {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;

TEST(KaiserSinc, WeightsAreThoseOfBesselFunctionsComputedToThirtyDigits) {
  // mpmath: sincpi(d) besseli(0, 6.31 sqrt(1 - (d / 4)^2)) / besseli(0, 6.31), d = 0.25, 0.75 and so on.
  const double expected[] = {-0.0066559806265634241, 0.037074951666855094,  -0.13486383999275229,
                             0.89019079860546006,    0.27086193267148031,   -0.072007982052050057,
                             0.017231181015659879,   -0.0017621795031015925};
  const Taps result = kaiser_sinc_taps(20.25, 100);
  ASSERT_EQ(result.taps.size(), 8u);
  EXPECT_EQ(result.dropped, 0);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(result.taps[i].index, 17 + static_cast<Index>(i));
    EXPECT_NEAR(result.taps[i].weight, expected[i], 1e-15) << i;  // a few roundings of numbers below 1
  }
}

class KaiserSincAt : public ::testing::TestWithParam<double> {};

TEST_P(KaiserSincAt, ReproducesWavesOfFourPointsPerWavelengthAndMore) {
  for (const double points : {4.0, 5.0, 8.0, 20.0}) {
    std::complex<double> sum = 0;
    for (const Tap& tap : kaiser_sinc_taps(GetParam(), 40).taps)
      sum += tap.weight * std::polar(1.0, 2 * std::numbers::pi / points * static_cast<double>(tap.index));
    const std::complex<double> exact = std::polar(1.0, 2 * std::numbers::pi / points * GetParam());
    EXPECT_LT(std::abs(sum - exact), 1.4e-3) << points;  // the promise; 30 digits give 1.33e-3 at 4 points
  }
}

INSTANTIATE_TEST_SUITE_P(Positions, KaiserSincAt, ::testing::Values(10.05, 10.25, 10.5, 10.7, 10.95, 11.0));

TEST(KaiserSinc, IsSymmetric) {
  const Taps right = kaiser_sinc_taps(10.3, 21), left = kaiser_sinc_taps(9.7, 21);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(right.taps[i].index, 20 - left.taps[7 - i].index);
    EXPECT_NEAR(right.taps[i].weight, left.taps[7 - i].weight, 1e-14);  // 10.3 and 9.7 are rounded differently
  }
}

TEST(KaiserSinc, OnAPointIsThatPoint) {
  for (const double position : {7.0, 7 + 9e-10, 7 - 9e-10}) {
    const Taps result = kaiser_sinc_taps(position, 10);
    ASSERT_EQ(result.taps.size(), 1u);
    EXPECT_EQ(result.taps[0].index, 7);
    EXPECT_EQ(result.taps[0].weight, 1);
    EXPECT_EQ(result.dropped, 0);
  }
  EXPECT_EQ(kaiser_sinc_taps(7 + 2e-9, 100).taps.size(), 8u);
}

TEST(KaiserSinc, SaysHowManyPointsAreOutside) {
  const Taps low = kaiser_sinc_taps(1.5, 20);
  EXPECT_EQ(low.dropped, 2);  // -2 and -1
  EXPECT_EQ(low.taps.front().index, 0);
  EXPECT_EQ(low.taps.size(), 6u);
  const Taps high = kaiser_sinc_taps(18.5, 20);
  EXPECT_EQ(high.dropped, 3);  // 20, 21 and 22
  EXPECT_EQ(high.taps.back().index, 19);
  const Taps outside = kaiser_sinc_taps(20, 20);
  EXPECT_EQ(outside.dropped, 1);
  EXPECT_TRUE(outside.taps.empty());
}

TEST(KaiserSinc, OfAPositionThatIsNoNumberIsRefused) {
  EXPECT_THAT(
      error_of(ErrorKind::bad_input, [] { (void)kaiser_sinc_taps(std::numeric_limits<double>::quiet_NaN(), 5); }),
      HasSubstr("position nan; expected a finite number of cells"));
}

}  // namespace
}  // namespace sonde::maxwell
