// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/transport/monotone_cubic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/errors.h"

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;

TEST(MonotoneCubic, LinesAreExactAlsoOutside) {
  const MonotoneCubic line({0, 1, 2.5, 7}, {1, 3, 6, 15}, "line");
  for (const double x : {-3.0, 0.0, 0.4, 1.0, 2.0, 6.9, 7.0, 9.0}) {
    EXPECT_NEAR(line.value(x), 1 + 2 * x, 1e-14);
    EXPECT_NEAR(line.slope(x), 2, 1e-14);
  }
}

TEST(MonotoneCubic, HasTheSlopesOfFritschAndButland) {
  // h = 1, 2; secants 1, 4: 3 (h0 + h1) / ((2 h1 + h0)/d0 + (h1 + 2 h0)/d1) = 9 / (5 + 1).
  EXPECT_DOUBLE_EQ(inner_slope(1, 2, 1, 4), 1.5);
  EXPECT_EQ(inner_slope(1, 2, 1, -4), 0);
  EXPECT_EQ(inner_slope(1, 2, 0, 4), 0);
  EXPECT_DOUBLE_EQ(end_slope(1, 1, 2, 1), 2.5);
  EXPECT_EQ(end_slope(1, 1, 1, 4), 0);          // the parabola would turn
  EXPECT_DOUBLE_EQ(end_slope(1, 1, 1, -9), 3);  // and here it would overshoot
}

TEST(MonotoneCubic, TheSlopeIsTheDerivative) {
  const MonotoneCubic curve({0, 1, 2, 4}, {0, 3, 2, 5}, "curve");
  for (const double x : {0.3, 0.9, 1.5, 2.2, 3.9}) {
    const double h = 1e-6;
    EXPECT_NEAR(curve.slope(x), (curve.value(x + h) - curve.value(x - h)) / (2 * h), 1e-8);
  }
}

RC_GTEST_PROP(MonotoneCubic, StaysBetweenItsNeighbours, ()) {
  std::vector<double> x{0}, y{0};
  const int count = *rc::gen::inRange(1, 8);
  for (int i = 0; i < count; ++i) {
    x.push_back(x.back() + 0.01 * *rc::gen::inRange(1, 300));
    y.push_back(0.1 * *rc::gen::inRange(-100, 100));
  }
  const MonotoneCubic curve(x, y, "curve");
  for (std::size_t i = 0; i + 1 < x.size(); ++i)
    for (int k = 0; k <= 10; ++k) {
      const double value = curve.value(x[i] + (x[i + 1] - x[i]) * k / 10);
      RC_ASSERT(value >= std::min(y[i], y[i + 1]) - 1e-12);
      RC_ASSERT(value <= std::max(y[i], y[i + 1]) + 1e-12);
    }
}

TEST(MonotoneCubic, OnePointIsAConstant) {
  const MonotoneCubic point({2}, {5}, "point");
  EXPECT_EQ(point.value(-1), 5);
  EXPECT_EQ(point.value(3), 5);
  EXPECT_EQ(point.slope(2), 0);
}

TEST(MonotoneCubic, WhatIsNoCurveIsRefused) {
  const auto refused = [](std::vector<double> x, std::vector<double> y) {
    return error_of(ErrorKind::bad_input, [&] { MonotoneCubic(x, y, "T_e"); });
  };
  EXPECT_THAT(refused({}, {}), HasSubstr("T_e: 0 places"));
  EXPECT_THAT(refused({1, 2}, {1}), HasSubstr("2 places and 1 values"));
  EXPECT_THAT(refused({1, 1}, {1, 2}), HasSubstr("do not increase"));
  EXPECT_THAT(refused({0, 1e-320, 1}, {1, 2, 3}), HasSubstr("too close to each other"));
  EXPECT_THAT(refused({1, 2}, {1, std::numeric_limits<double>::infinity()}), HasSubstr("not a finite number"));
}

}  // namespace
}  // namespace sonde::neoclassical
