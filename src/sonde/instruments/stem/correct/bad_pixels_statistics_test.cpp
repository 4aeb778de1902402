// SPDX-License-Identifier: Apache-2.0
// What the rule for bad pixels finds in patterns with counting noise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <utility>

#include "sonde/instruments/stem/correct/bad_pixels.h"
#include "tests/support/pixel_sums.h"

namespace sonde::stem {
namespace {

using sonde::testing::PixelSums;
using sonde::testing::places;
using ::testing::IsEmpty;

/// The rule of docs/stem-theory.md read as plainly as possible: m8 = max, med = median of the good 8 neighbours.
bool hot_by_the_rule(PixelSums& sums, Index row, Index col) {
  if ((row == 0 || row == sums.rows - 1) && (col == 0 || col == sums.cols - 1)) return false;  // the ring joins there
  std::uint64_t top = 0;
  for (Index r = std::max<Index>(row - 1, 0); r <= std::min(row + 1, sums.rows - 1); ++r)
    for (Index c = std::max<Index>(col - 1, 0); c <= std::min(col + 1, sums.cols - 1); ++c)
      if (r != row || c != col) top = std::max(top, sums(r, c));
  const auto m8 = static_cast<double>(top);
  return static_cast<double>(sums(row, col)) > 3 * m8 + 8 * std::sqrt(m8 + 1);
}

std::uint64_t poisson(double mean, std::mt19937_64& random) {
  return mean > 0 ? static_cast<std::uint64_t>(std::poisson_distribution<long>(mean)(random)) : 0;
}

PixelSums disk(double radius, double level, double background, std::mt19937_64& random) {
  PixelSums sums(96, 96);
  std::uniform_real_distribution<double> offset(-0.5, 0.5);
  const double row = 47 + offset(random), col = 48 + offset(random);
  for (Index r = 0; r < 96; ++r)
    for (Index c = 0; c < 96; ++c)
      sums(r, c) = poisson(
          std::hypot(static_cast<double>(r) - row, static_cast<double>(c) - col) < radius ? level : background, random);
  return sums;
}

// Everything at least five times brighter than its neighbours is found, in
// disks of every size and dose. Nothing else is, but what the rule itself calls hot beside an injected pixel.
TEST(BadPixels, InjectedHotPixelsAreFound) {
  std::mt19937_64 random(8);
  for (const double radius : {2.0, 3.0, 5.0, 8.0, 13.0, 20.0, 30.0}) {
    for (const double dose : {0.1, 1.0, 10.0, 100.0}) {
      for (const int injected : {0, 1, 10, 50}) {
        SCOPED_TRACE(::testing::Message() << "radius " << radius << " dose " << dose << " hot " << injected);
        PixelSums sums = disk(radius, 256 * dose, 5 * dose, random);
        std::set<std::pair<Index, Index>> changed;
        for (int i = 0; i < injected; ++i) {
          const Index row = static_cast<Index>(random() % 96), col = static_cast<Index>(random() % 96);
          sums(row, col) = sums(row, col) * (2 + random() % 40) + random() % 100000;
          changed.emplace(row, col);
        }
        const auto found = places(find_bad_pixels(sums.statistics()));
        for (Index row = 0; row < 96; ++row) {
          for (Index col = 0; col < 96; ++col) {
            std::uint64_t top = 0;
            for (Index r = std::max<Index>(row - 1, 0); r <= std::min<Index>(row + 1, 95); ++r)
              for (Index c = std::max<Index>(col - 1, 0); c <= std::min<Index>(col + 1, 95); ++c)
                if (r != row || c != col) top = std::max(top, sums(r, c));
            const bool obvious = top >= 20 && sums(row, col) >= 5 * top;
            EXPECT_TRUE(!obvious || found.count({row, col}) == 1) << row << " " << col;
            EXPECT_TRUE(!hot_by_the_rule(sums, row, col) || found.count({row, col}) == 1) << row << " " << col;
          }
        }
        for (const auto& place : found) EXPECT_TRUE(changed.count(place) == 1) << place.first << " " << place.second;
      }
    }
  }
}

TEST(BadPixels, CleanPatternsHaveNone) {
  std::mt19937_64 random(9);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int trial = 0; trial < 1000; ++trial) {
    SCOPED_TRACE(trial);
    PixelSums sums(64, 64);
    const double row = 31 + unit(random), col = 31 + unit(random), dose = std::pow(10, -1 + 5 * unit(random));
    const double background = dose * 0.02 * unit(random);
    const int kind = trial % 3;
    const double radius = kind == 0 ? 4 + 20 * unit(random) : 1.5 + 20 * unit(random);
    const double sigma = 0.8 + 2 * unit(random), spacing = 6 + 10 * unit(random), turn = unit(random);
    for (Index r = 0; r < 64; ++r) {
      for (Index c = 0; c < 64; ++c) {
        const double y = static_cast<double>(r) - row, x = static_cast<double>(c) - col, d = std::hypot(y, x);
        double mean = background;
        if (kind == 0) {  // a ring one pixel wide
          if (std::abs(d - radius) < 0.5) mean += dose;
        } else if (kind == 1) {  // a disk
          if (d < radius) mean += dose;
        } else {  // Bragg spots
          const double u = (y * std::cos(turn) + x * std::sin(turn)) / spacing,
                       v = (x * std::cos(turn) - y * std::sin(turn)) / spacing;
          const double du = (u - std::round(u)) * spacing, dv = (v - std::round(v)) * spacing;
          mean += dose * std::exp(-(du * du + dv * dv) / (2 * sigma * sigma)) * std::exp(-d / 20);
        }
        sums(r, c) = poisson(mean, random);
      }
    }
    EXPECT_THAT(find_bad_pixels(sums.statistics()), IsEmpty());
  }
}

TEST(BadPixels, ASmallBrightFieldDiskSurvives) {
  // A disk of radius 10 on 192 x 192 covers 0.9 % of the detector: "mean + 5 standard deviations" would erase it all,
  // and the median of the neighbours would call the background pixels in its concave corners dead.
  std::mt19937_64 random(2);
  PixelSums sums(192, 192);
  for (Index r = 0; r < 192; ++r)
    for (Index c = 0; c < 192; ++c)
      sums(r, c) =
          poisson(std::hypot(static_cast<double>(r - 96), static_cast<double>(c - 96)) < 10 ? 1e5 : 10, random);
  EXPECT_THAT(find_bad_pixels(sums.statistics()), IsEmpty());
}

}  // namespace
}  // namespace sonde::stem
