// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/dose/disk_bound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "sonde/engine/math/poisson.h"
#include "sonde/instruments/stem/bragg/test_disks.h"

namespace sonde::stem {
namespace {

using stem::testing::draw_disks;
using stem::testing::DrawnDisk;

constexpr Index window_rows = 25, window_cols = 28;
constexpr double drawn_radius = 5, drawn_edge = 0.7, drawn_height = 20, drawn_background = 0.5;

std::vector<double> rates_at(double y, double x) {
  std::vector<double> rates = draw_disks(window_rows, window_cols, std::vector{DrawnDisk{y, x, drawn_height}},
                                         drawn_radius, drawn_edge, drawn_background);
  return rates;
}

View<const float, 2> seen_as(const std::vector<float>& pattern) { return {pattern.data(), window_rows, window_cols}; }

std::vector<float> floats(const std::vector<double>& values) { return {values.begin(), values.end()}; }

// The bound of the definition, with differences of the drawn patterns as derivatives.
TEST(DiskBound, IsThatOfTheDefinitionForADrawnDisk) {
  constexpr double y = 12.3, x = 13.1, step = 0.01;
  const auto mean = rates_at(y, x), below = rates_at(y + step, x), above = rates_at(y - step, x);
  double information = 0, sum = 0;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const double slope = (below[i] - above[i]) / (2 * step);
    information += slope * slope / mean[i];
    sum += mean[i] - drawn_background;
  }
  const auto pattern = floats(mean);
  RadialProfile rings(9);
  rings.add(seen_as(pattern), y, x);
  const auto profile = rings.disk(drawn_radius);
  ASSERT_TRUE(profile);
  // Rings of a quarter of a pixel mix what is within them.
  EXPECT_NEAR(profile->radius, drawn_radius, 0.1);
  EXPECT_NEAR(profile->edge, drawn_edge, 0.1);
  const auto disk = count_disk(seen_as(pattern), *profile, y, x, 9);
  ASSERT_TRUE(disk);
  EXPECT_NEAR(disk->counts, sum, 0.02 * sum);
  EXPECT_NEAR(disk->background, drawn_background, 0.1 * drawn_background);
  // A bound goes with the root of the edge, which the rings give to a tenth.
  EXPECT_NEAR(disk->bound_y, 1 / std::sqrt(information), 0.06 / std::sqrt(information));
}

TEST(DiskBound, StandardErrorsOfHeightsAreTheirScatter) {
  constexpr int trials = 400;
  const DiskProfile profile{drawn_radius, drawn_edge};
  const auto rates = rates_at(12, 14);
  double squares = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<std::uint32_t> counts(rates.size());
    draw_poisson({.seed = 5, .stream = static_cast<std::uint64_t>(trial)}, rates, counts);
    const std::vector<float> pattern(counts.begin(), counts.end());
    const auto disk = count_disk(seen_as(pattern), profile, 12, 14, 9);
    ASSERT_TRUE(disk);
    squares += std::pow((disk->height - drawn_height) / disk->height_sigma, 2);
  }
  // 400 numbers: 3.5 % by chance; that the drawn disk is averaged over pixels moves heights by a tenth of that.
  EXPECT_NEAR(std::sqrt(squares / trials), 1, 0.12);
}

TEST(DiskBound, ThereIsNoneAtTheEdgeOfThePatternAndNoLimitWithoutADisk) {
  const std::vector<float> flat(static_cast<std::size_t>(window_rows * window_cols), 2);
  const DiskProfile profile{drawn_radius, drawn_edge};
  EXPECT_FALSE(count_disk(seen_as(flat), profile, 8, 14, 9));
  const auto disk = count_disk(seen_as(flat), profile, 12, 14, 9);
  ASSERT_TRUE(disk);
  EXPECT_LT(disk->height, 1e-6);
  EXPECT_NEAR(disk->background, 2, 1e-6);
  EXPECT_GT(disk->bound_x, 1e3);
}

}  // namespace
}  // namespace sonde::stem
