// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sonde/engine/base/host_device.h"

// Floating-point numbers of 16 bits, for storage: what is computed stays float. Conversions to them round to the
// nearest, ties to even, keep infinities, and turn a NaN into a quiet NaN with the upper bits of its payload; back to
// float they are exact. The same bits on every processor. (The built-in cast serves kernels, which std::bit_cast does
// not.)

namespace sonde {

/// The upper half of a float: 8 bits of exponent, so the range of float, and 7 of fraction, so steps of 1/128.
[[nodiscard]] SONDE_HOST_DEVICE constexpr std::uint16_t to_bf16(float value) {
  const auto bits = __builtin_bit_cast(std::uint32_t, value);
  const bool nan = (bits & 0x7FFFFFFFu) > 0x7F800000u;
  const std::uint32_t rounded = bits + 0x7FFFu + ((bits >> 16) & 1u);
  return static_cast<std::uint16_t>((nan ? bits | 0x00400000u : rounded) >> 16);
}

[[nodiscard]] SONDE_HOST_DEVICE constexpr float from_bf16(std::uint16_t half) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(half) << 16);
}

/// IEEE 754 binary16: 5 bits of exponent, so 6e-8 to 65504 (beyond 65520 infinity), and 10 of fraction, so steps of
/// 1/1024.
[[nodiscard]] SONDE_HOST_DEVICE constexpr std::uint16_t to_fp16(float value) {
  const auto bits = __builtin_bit_cast(std::uint32_t, value);
  const std::uint32_t sign = bits & 0x80000000u, size = bits ^ sign;
  // Normal numbers: move the exponent and round at bit 13; a carry reaches the exponent as it should.
  const std::uint32_t normal = (size - (112u << 23) + 0xFFFu + ((size >> 13) & 1u)) >> 13;
  // Subnormal ones: adding 0.5 puts the last bit of the result, 2^-24, at the end of the fraction, and the sum rounds.
  const std::uint32_t subnormal =
      __builtin_bit_cast(std::uint32_t, __builtin_bit_cast(float, size < (113u << 23) ? size : 0u) + 0.5f) -
      0x3F000000u;
  const std::uint32_t beyond = size > 0x7F800000u ? 0x7E00u | ((size >> 13) & 0x3FFu) : 0x7C00u;
  const std::uint32_t half = size >= (143u << 23) ? beyond : size < (113u << 23) ? subnormal : normal;
  return static_cast<std::uint16_t>(half | (sign >> 16));
}

[[nodiscard]] SONDE_HOST_DEVICE constexpr float from_fp16(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::uint32_t exponent = half & 0x7C00u, rest = static_cast<std::uint32_t>(half & 0x7FFFu) << 13;
  const std::uint32_t normal = rest + (112u << 23);
  const std::uint32_t infinite = rest + (224u << 23);
  // Subnormal: fraction x 2^-24, as 2^-14 (1 + fraction) - 2^-14.
  const std::uint32_t subnormal =
      __builtin_bit_cast(std::uint32_t, __builtin_bit_cast(float, (rest & 0x007FFFFFu) + (113u << 23)) -
                                            __builtin_bit_cast(float, 113u << 23));
  return __builtin_bit_cast(float, sign | (exponent == 0x7C00u ? infinite : exponent == 0 ? subnormal : normal));
}

}  // namespace sonde
