// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/read/frames.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
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

}  // namespace
}  // namespace sonde::ptycho
