// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <span>

#include "sonde/engine/array/dtype.h"

namespace sonde {

static_assert(std::endian::native == std::endian::little, "the readers assume a little-endian machine");

/// The unsigned integer stored at `bytes` in little or big endian order; no alignment is needed.
template <std::unsigned_integral T>
[[nodiscard]] T load_little(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}
template <std::unsigned_integral T>
[[nodiscard]] T load_big(const std::byte* bytes) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i)
    value = static_cast<T>((sizeof value > 1 ? static_cast<T>(value << 8) : T{0}) | static_cast<T>(bytes[i]));
  return value;
}

/// Reverses the bytes of every word of `word_bytes` (1, 2, 4 or 8; `bytes` holds whole words).
void swap_bytes(std::span<std::byte> bytes, std::size_t word_bytes);

/// Bytes that are swapped together: the element, or one part of a complex element.
[[nodiscard]] std::size_t word_bytes(DType dtype);

}  // namespace sonde
