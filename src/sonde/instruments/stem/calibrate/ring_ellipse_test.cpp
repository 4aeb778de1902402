// SPDX-License-Identifier: Apache-2.0
// Rings that are drawn as ellipses: their shape and their centre come back, with errors of the size that is stated.
#include "sonde/instruments/stem/calibrate/ring_ellipse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "sonde/instruments/stem/calibrate/test_rings.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using ::testing::HasSubstr;
constexpr double degree = std::numbers::pi / 180;

RingEllipse fit(const Rings& rings, const std::vector<double>& pattern, double row_off = 0, double col_off = 0) {
  return fit_ring_ellipse(View<const double, 2>(pattern.data(), rings.rows, rings.cols), {}, rings.row + row_off,
                          rings.col + col_off, {12, 56});
}

struct Drawn {
  double ratio, degrees, row_off, col_off;
};
class RingEllipseOf : public ::testing::TestWithParam<Drawn> {};

TEST_P(RingEllipseOf, DrawnRingsIsTheirs) {
  const auto& [ratio, degrees, row_off, col_off] = GetParam();
  Rings rings;
  rings.a = std::sqrt(ratio);
  rings.b = 1 / rings.a;
  rings.theta = degrees * degree;
  const RingEllipse found = fit(rings, rings.expected(), row_off, col_off);
  EXPECT_TRUE(found.converged);
  // Means of a pixel's width, joined by lines, and the pixels' own grid leave this much.
  EXPECT_NEAR(found.ratio(), ratio, 5e-4);
  EXPECT_NEAR(found.row, rings.row, 0.01);
  EXPECT_NEAR(found.col, rings.col, 0.01);
  EXPECT_NEAR(found.ellipse.a * found.ellipse.b, 1, 1e-12);
  if (ratio > 1) {
    const double off = found.ellipse.theta - rings.theta;
    EXPECT_NEAR(off - std::numbers::pi * std::round(off / std::numbers::pi), 0, 5e-4 / (ratio - 1));
    EXPECT_LT(found.variance_left, ratio > 1.02 ? 0.5 : 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Rings, RingEllipseOf,
                         ::testing::Values(Drawn{1, 0, 0, 0}, Drawn{1.004, 20, 0, 0}, Drawn{1.03, -70, 0.6, -0.4},
                                           Drawn{1.1, 45, -1.5, 1}, Drawn{1.2, 10, 0, 0}, Drawn{1.2, 80, 1, 1}));

TEST(RingEllipse, ErrorsOfCountsAreThoseThatAreStated) {
  Rings rings;
  rings.a = std::sqrt(1.05);
  rings.b = 1 / rings.a;
  rings.theta = 0.5;
  double ratio = 0, angle = 0, col = 0;
  constexpr int draws = 30;
  for (int draw = 0; draw < draws; ++draw) {
    const RingEllipse found = fit(rings, rings.counts(static_cast<std::uint64_t>(draw)));
    const auto square = [](double value) { return value * value / draws; };
    ratio += square((found.ratio() - 1.05) / found.ratio_error);
    angle += square((found.ellipse.theta - 0.5) / found.theta_error);
    col += square((found.col - rings.col) / found.col_error);
  }
  // Of 30 pulls the root mean square scatters by 13 %, and errors of a jackknife over 16 sectors by 18 % each.
  for (const double squares : {ratio, angle, col}) {
    EXPECT_GT(std::sqrt(squares), 0.6);
    EXPECT_LT(std::sqrt(squares), 1.5);
  }
}

TEST(RingEllipse, TextureAndBadPixelsDoNotTurnIt) {
  Rings rings;
  rings.a = std::sqrt(1.04);
  rings.b = 1 / rings.a;
  rings.theta = 0.3;
  rings.texture = 0.6;  // twice as bright along one direction as across it
  std::vector<double> pattern = rings.expected();
  std::vector<std::uint8_t> good(pattern.size(), 1);
  for (Index row = 40; row < 52; ++row)  // a beam stop from the left, and nonsense under it
    for (Index col = 0; col < 64; ++col) {
      const auto here = static_cast<std::size_t>(row * rings.cols + col);
      good[here] = 0;
      pattern[here] = 1e6;
    }
  const RingEllipse found = fit_ring_ellipse(View<const double, 2>(pattern.data(), rings.rows, rings.cols), good,
                                             rings.row, rings.col, {12, 56});
  EXPECT_NEAR(found.ratio(), 1.04, 2e-3);
  EXPECT_NEAR(found.ellipse.theta, 0.3, 0.03);
}

TEST(RingEllipse, RefusesWhatHasNoRings) {
  const std::vector<double> flat(60 * 50, 7.0);
  const auto error = [&](RingRange range) {
    return sonde::testing::error_of(ErrorKind::bad_input, [&] {
      (void)fit_ring_ellipse(View<const double, 2>(flat.data(), 60, 50), {}, 30, 25, range);
    });
  };
  EXPECT_THAT(error({5, 20}), HasSubstr("the pattern is constant from 5 to 20 px about its centre"));
  EXPECT_THAT(error({5, 7}), HasSubstr("rings from 5 to 7 px; expected 4 px or more between them"));
}

}  // namespace
}  // namespace sonde::stem
