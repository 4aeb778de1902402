// SPDX-License-Identifier: Apache-2.0
// The plain version: one 64-bit word holds an 8x8 matrix of bits. Runs everywhere and is the measure of the others.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "sonde/engine/io/codec/bitshuffle_kernels.h"

namespace sonde {
namespace {

// Transposes an 8x8 bit matrix whose row r is byte r of the word: swaps 1x1, 2x2 and 4x4 blocks across the diagonal.
std::uint64_t transpose(std::uint64_t matrix) {
  std::uint64_t swap = (matrix ^ (matrix >> 7)) & 0x00AA00AA00AA00AAu;
  matrix ^= swap ^ (swap << 7);
  swap = (matrix ^ (matrix >> 14)) & 0x0000CCCC0000CCCCu;
  matrix ^= swap ^ (swap << 14);
  swap = (matrix ^ (matrix >> 28)) & 0x00000000F0F0F0F0u;
  return matrix ^ swap ^ (swap << 28);
}

void bytes_from_planes(const std::byte* planes, std::size_t stride, std::size_t groups, std::byte* bytes) {
  for (std::size_t j = 0; j < groups; ++j) {
    std::uint64_t matrix = 0;
    for (unsigned p = 0; p < 8; ++p) matrix |= std::to_integer<std::uint64_t>(planes[p * stride + j]) << (8 * p);
    matrix = transpose(matrix);
    for (unsigned i = 0; i < 8; ++i) bytes[8 * j + i] = static_cast<std::byte>(matrix >> (8 * i));
  }
}

void planes_from_bytes(const std::byte* bytes, std::size_t groups, std::size_t stride, std::byte* planes) {
  for (std::size_t j = 0; j < groups; ++j) {
    std::uint64_t matrix = 0;
    for (unsigned i = 0; i < 8; ++i) matrix |= std::to_integer<std::uint64_t>(bytes[8 * j + i]) << (8 * i);
    matrix = transpose(matrix);
    for (unsigned p = 0; p < 8; ++p) planes[p * stride + j] = static_cast<std::byte>(matrix >> (8 * p));
  }
}

// Widens in strips that stay in the first-level cache.
constexpr std::size_t portable_strip_groups = 64;

template <std::size_t width>
void widened_from_planes(const std::byte* planes, std::size_t groups, std::size_t live_bytes, std::byte* elements) {
  std::array<std::array<std::byte, 8 * portable_strip_groups>, width> strips{};
  for (std::size_t done = 0; done < groups; done += portable_strip_groups) {
    const std::size_t now = std::min(portable_strip_groups, groups - done);
    for (std::size_t k = 0; k < live_bytes; ++k)
      bytes_from_planes(planes + 8 * k * groups + done, groups, now, strips[k].data());
    std::byte* out = elements + 8 * done * width;
    for (std::size_t i = 0; i < 8 * now; ++i)
      for (std::size_t k = 0; k < width; ++k) out[i * width + k] = strips[k][i];
  }
}

bool all_zero(const std::byte* bytes, std::size_t count) {
  std::size_t i = 0;
  for (; i + 64 <= count; i += 64) {
    std::array<std::uint64_t, 8> words;
    std::memcpy(words.data(), bytes + i, sizeof words);
    std::uint64_t any = 0;
    for (const std::uint64_t word : words) any |= word;
    if (any != 0) return false;
  }
  return std::all_of(bytes + i, bytes + count, [](std::byte byte) { return byte == std::byte{0}; });
}

}  // namespace

const BitshuffleKernels& bitshuffle_kernels_portable() {
  static constexpr BitshuffleKernels kernels = {
      "portable", bytes_from_planes,   planes_from_bytes, widened_from_planes<2>, widened_from_planes<4>,
      all_zero,   decompress_lz4_block};
  return kernels;
}

}  // namespace sonde
