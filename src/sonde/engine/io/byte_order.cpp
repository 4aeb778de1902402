// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/byte_order.h"

#include <cassert>
#include <cstdint>

namespace sonde {
namespace {

template <class T, class Swap>
void swap_words(std::span<std::byte> bytes, Swap swap) {
  for (std::size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    T word;
    std::memcpy(&word, &bytes[i], sizeof word);
    word = swap(word);
    std::memcpy(&bytes[i], &word, sizeof word);
  }
}

}  // namespace

void swap_bytes(std::span<std::byte> bytes, std::size_t word_bytes) {
  assert(word_bytes > 0 && bytes.size() % word_bytes == 0);
  switch (word_bytes) {
    case 2:
      return swap_words<std::uint16_t>(bytes, [](std::uint16_t word) { return __builtin_bswap16(word); });
    case 4:
      return swap_words<std::uint32_t>(bytes, [](std::uint32_t word) { return __builtin_bswap32(word); });
    case 8:
      return swap_words<std::uint64_t>(bytes, [](std::uint64_t word) { return __builtin_bswap64(word); });
    default:
      assert(word_bytes == 1);
  }
}

std::size_t word_bytes(DType dtype) {
  const bool complex = dtype == DType::c64 || dtype == DType::c128;
  return complex ? size_bytes(dtype) / 2 : size_bytes(dtype);
}

}  // namespace sonde
