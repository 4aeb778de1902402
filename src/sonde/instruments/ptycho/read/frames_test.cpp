// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/read/frames.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace sonde::ptycho {
namespace {

TEST(SaturatedPixels, AreMeasuredOnesAtTheLimitOfTheirType) {
  Array patterns = Array::zeros(Device::cpu(), Shape{2, 2, 3}, DType::u16);
  auto* counts = static_cast<std::uint16_t*>(patterns.data());
  counts[1] = counts[7] = counts[11] = std::numeric_limits<std::uint16_t>::max();
  counts[4] = std::numeric_limits<std::uint16_t>::max() - 1;
  EXPECT_EQ(saturated_pixels(patterns, {}), 3);
  const std::vector<std::uint8_t> good{1, 0, 1, 1, 1, 1};  // pixel 1 of both frames is dead
  EXPECT_EQ(saturated_pixels(patterns, good), 1);
}

TEST(SaturatedPixels, OfFloatingPointNumbersThereAreNone) {
  Array patterns(Device::cpu(), Shape{1, 1, 2}, DType::f32);
  std::fill_n(static_cast<float*>(patterns.data()), 2, std::numeric_limits<float>::max());
  EXPECT_EQ(saturated_pixels(patterns, {}), 0);
}

TEST(FitDetector, PutsTheZeroFrequencyInItsPlace) {
  Array patterns = Array::zeros(Device::cpu(), Shape{1, 6, 8}, DType::u16);
  auto* counts = static_cast<std::uint16_t*>(patterns.data());
  for (std::uint16_t i = 0; i < 48; ++i) counts[i] = i;
  const OffCentre off{2, -1};  // at row 5, column 3
  const Array made = fit_detector(patterns, ZeroFrequency::centre, {6, 8}, off);
  const auto* to = static_cast<const std::uint16_t*>(made.data());
  const std::vector<std::uint8_t> good = fit_mask({}, {6, 8}, ZeroFrequency::centre, {6, 8}, off);
  for (Index row = 0; row < 6; ++row)
    for (Index col = 0; col < 8; ++col) {
      const Index from_row = row + 2, from_col = col - 1;
      const bool there = from_row < 6 && from_col >= 0;
      const auto at = static_cast<std::size_t>(row * 8 + col);
      EXPECT_EQ(to[at], there ? from_row * 8 + from_col : 0) << row << ", " << col;
      EXPECT_EQ(good[at], there ? 1 : 0) << row << ", " << col;
    }
  EXPECT_EQ(to[3 * 8 + 4], 5 * 8 + 3);
}

TEST(HotPixels, ShineAlone) {
  // A noisy disk with faint scattering around, and two pixels beside it.
  Array mean = Array::zeros(Device::cpu(), Shape{32, 40}, DType::f64);
  const auto pixels = mean.view<double, 2>();
  std::mt19937 generator(2);
  std::uniform_real_distribution<double> noise(0.5, 1.5);
  for (Index r = 0; r < 32; ++r)
    for (Index c = 0; c < 40; ++c) {
      const double away =
          std::hypot(static_cast<double>(std::min(r, 32 - r)), static_cast<double>(std::min(c, 40 - c)));
      pixels(r, c) = noise(generator) * (away <= 8 ? 100 : 0.1);
    }
  EXPECT_TRUE(hot_pixels(std::as_const(mean).view<double, 2>()).empty());
  pixels(15, 20) = 300;
  pixels(0, 12) = 60;
  EXPECT_EQ(hot_pixels(std::as_const(mean).view<double, 2>()), (std::vector<std::array<Index, 2>>{{0, 12}, {15, 20}}));
}

}  // namespace
}  // namespace sonde::ptycho
