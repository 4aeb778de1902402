// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/base/small_float.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace sonde {
namespace {

/// A format by its definition: value = (-1)^sign 2^(exponent - bias) (1 + fraction), subnormal below.
struct Format {
  int exponent_bits, fraction_bits;
  [[nodiscard]] double value(std::uint16_t bits) const {
    const int bias = (1 << (exponent_bits - 1)) - 1, top = (1 << exponent_bits) - 1;
    const int exponent = (bits >> fraction_bits) & top, fraction = bits & ((1 << fraction_bits) - 1);
    const double sign = (bits & 0x8000) != 0 ? -1 : 1;
    if (exponent == top)
      return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    return sign * (exponent == 0 ? std::ldexp(fraction, 1 - bias - fraction_bits)
                                 : std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits));
  }
  /// Round to nearest, ties to even, by looking at the two neighbours; magnitudes only.
  [[nodiscard]] std::uint16_t nearest(double magnitude) const {
    const auto infinity = static_cast<std::uint16_t>(((1 << exponent_bits) - 1) << fraction_bits);
    std::uint16_t below = 0, above = infinity;  // ordered like their values
    while (above - below > 1) {
      const auto middle = static_cast<std::uint16_t>((below + above) / 2);
      (value(middle) <= magnitude ? below : above) = middle;
    }
    if (std::isinf(magnitude)) return infinity;
    // Above the largest number the next one would be a step further; half of that step rounds to infinity.
    const double step = value(below) - value(static_cast<std::uint16_t>(below - (below > 0 ? 1 : 0)));
    const double top = above == infinity ? value(below) + step : value(above);
    const double down = magnitude - value(below), up = top - magnitude;
    if (down == up) return below % 2 == 0 ? below : above;
    return down < up ? below : above;
  }
};

constexpr Format bf16{8, 7}, fp16{5, 10};

std::vector<float> interesting() {
  std::vector<float> values = {0.0f,
                               1.0f,
                               65504.0f,
                               65519.996f,
                               65520.0f,
                               65536.0f,
                               1e-8f,
                               5.96e-8f,
                               2.98e-8f,
                               2.9802322e-8f,
                               2.9802326e-8f,
                               6.1e-5f,
                               6.1035156e-5f,
                               3.3895314e38f,
                               3.4e38f,
                               std::numeric_limits<float>::denorm_min(),
                               std::numeric_limits<float>::min(),
                               std::numeric_limits<float>::max(),
                               std::numeric_limits<float>::infinity()};
  // Ties of both formats, and their neighbours, in every exponent.
  for (std::uint32_t exponent = 0; exponent < 255; ++exponent)
    for (const std::uint32_t fraction : {0x8000u, 0x18000u, 0x7F8000u, 0x1000u, 0x3000u, 0x7FF000u, 0x7FE000u})
      for (const int beside : {-1, 0, 1})
        values.push_back(std::bit_cast<float>((exponent << 23 | fraction) + static_cast<std::uint32_t>(beside)));
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(random()) & 0x7FFFFFFFu);
    if (value == value) values.push_back(value);
  }
  return values;
}

TEST(SmallFloat, RoundsToTheNearestAndTiesToEven) {
  for (const float value : interesting()) {
    ASSERT_EQ(to_bf16(value), bf16.nearest(value)) << value;
    ASSERT_EQ(to_fp16(value), fp16.nearest(value)) << value;
    ASSERT_EQ(to_bf16(-value), bf16.nearest(value) | 0x8000) << value;
    ASSERT_EQ(to_fp16(-value), fp16.nearest(value) | 0x8000) << value;
  }
}

TEST(SmallFloat, EveryStoredNumberIsReadExactlyAndStoredAgain) {
  for (std::uint32_t i = 0; i < 65536; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    if (std::isnan(bf16.value(bits))) {
      EXPECT_TRUE(std::isnan(from_bf16(bits))) << i;
    } else {
      EXPECT_EQ(from_bf16(bits), static_cast<float>(bf16.value(bits))) << i;
      EXPECT_EQ(to_bf16(from_bf16(bits)), bits);
    }
    if (std::isnan(fp16.value(bits))) {
      EXPECT_TRUE(std::isnan(from_fp16(bits))) << i;
    } else {
      EXPECT_EQ(from_fp16(bits), static_cast<float>(fp16.value(bits))) << i;
      EXPECT_EQ(to_fp16(from_fp16(bits)), bits);
    }
  }
}

TEST(SmallFloat, NoNanBecomesANumber) {
  // A payload only in the lower bits would be cut off to an infinity.
  for (const std::uint32_t payload : {1u, 0x1FFFu, 0x400000u, 0x7FFFFFu, 0x2000u})
    for (const std::uint32_t sign : {0u, 0x80000000u}) {
      const float value = std::bit_cast<float>(sign | 0x7F800000u | payload);
      EXPECT_TRUE(std::isnan(from_bf16(to_bf16(value)))) << payload;
      EXPECT_TRUE(std::isnan(from_fp16(to_fp16(value)))) << payload;
    }
}

}  // namespace
}  // namespace sonde
