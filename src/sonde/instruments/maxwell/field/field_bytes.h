// SPDX-License-Identifier: Apache-2.0
// Private to the room: numbers in the bytes of a file.
#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "sonde/engine/io/byte_order.h"

namespace sonde::maxwell {

enum class ByteOrder { little, big };

/// The unsigned integer of as many bytes.
template <class T>
using Word = std::conditional_t<sizeof(T) == 1, std::uint8_t,
                                std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                                   std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

/// The number at `at`, which lies within the bytes.
template <class T>
[[nodiscard]] T load(std::span<const std::byte> bytes, std::size_t at, ByteOrder order) {
  assert(at + sizeof(T) <= bytes.size());
  const std::byte* from = bytes.data() + at;
  return std::bit_cast<T>(order == ByteOrder::big ? load_big<Word<T>>(from) : load_little<Word<T>>(from));
}

template <class T>
void store(std::span<std::byte> bytes, std::size_t at, T value, ByteOrder order) {
  assert(at + sizeof(T) <= bytes.size());
  const auto word = std::bit_cast<Word<T>>(value);
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    const std::size_t shift = 8 * (order == ByteOrder::big ? sizeof(T) - 1 - i : i);
    bytes[at + i] = static_cast<std::byte>((word >> shift) & 0xffU);
  }
}

}  // namespace sonde::maxwell
