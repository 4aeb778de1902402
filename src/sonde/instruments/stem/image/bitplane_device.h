// SPDX-License-Identifier: Apache-2.0
// Private: sums of masks over bit planes by the warps of a GPU, as a template over the thread block
// (engine/device/team.h).
#pragma once

#include <cstdint>

#include "sonde/engine/array/view.h"
#include "sonde/engine/device/team.h"
#include "sonde/engine/io/codec/bitshuffle_device.h"

namespace sonde::stem::device {

using sonde::device::ChunkShape;

SONDE_DEVICE inline std::uint32_t count_bits(std::uint64_t word) {
#ifdef __CUDA_ARCH__
  return static_cast<std::uint32_t>(__popcll(word));
#else
  return static_cast<std::uint32_t>(__builtin_popcountll(word));
#endif
}

/// A set of pixels, one bit each in element order, and where its sum goes.
struct PixelBits {
  std::uint64_t offset = 0;           // of its bytes, a multiple of eight
  std::uint32_t first = 0, last = 0;  // bytes outside hold no pixel
  std::uint32_t slot = 0, power = 0;  // sums(chunk, slot) += 2^power times the sum over the pixels
};

/// The sums of all chunks of a buffer, one thread block per chunk and one warp per bit-transposed block; see
/// BitplaneMasks.
struct SumBitPlanes {
  View<const std::uint8_t, 1> bytes;
  View<const ChunkPiece, 1> pieces;
  ChunkShape shape;
  View<const PixelBits, 1> sets;
  const std::uint8_t* bits = nullptr;  // of all sets
  const std::uint8_t* good = nullptr;  // bits of the good pixels
  bool has_sentinel = false;
  std::uint64_t sentinel = 0;
  View<std::uint64_t, 2> sums;      // (chunk, slot)
  std::uint32_t sentinel_slot = 0;  // counts blocks with a sentinel in a good pixel
  View<std::uint64_t, 1> faults;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    for (Index chunk = block.index(); chunk < pieces.extent[0]; chunk += block.count()) {
      std::uint64_t* fault = faults.data + chunk;
      std::uint64_t* to = sums.data + chunk * sums.stride[0];
      const ChunkPiece piece = pieces.data[chunk];
      block.once([&] { *fault = no_chunk_fault; });
      block.each(sums.extent[1], [&](Index slot) { to[slot] = 0; });
      if (piece.form == ChunkForm::absent) continue;
      block.each_warp([&](const auto& warp, std::uint32_t w, std::uint32_t warps) {
        if (piece.form == ChunkForm::plain) {
          if (w == 0) add_plain(warp, piece, to, fault);
          return;
        }
        std::uint8_t* staging = block.scratch() + static_cast<std::size_t>(w) * shape.staging_bytes;
        const std::uint64_t found = sonde::device::walk_chunk(
            warp, w, warps, bytes.data + piece.offset, piece, shape, staging,
            [&](const std::uint8_t* planes, std::uint32_t count, std::uint64_t first) {
              add_planes(warp, planes, count / 8, static_cast<std::uint32_t>(first / 8), to);
            },
            [&](const std::uint8_t* loose, std::uint32_t count, std::uint64_t first) {
              add_elements(warp, loose, count, first, to);
            });
        if (found != no_chunk_fault) shared_min(fault, found);
      });
      if (*fault != no_chunk_fault) block.each(sums.extent[1], [&](Index slot) { to[slot] = 0; });
    }
  }

 private:
  /// Bytes [begin, begin + plane_bytes) of every set meet the planes of one block.
  template <class Warp>
  SONDE_DEVICE void add_planes(const Warp& warp, const std::uint8_t* planes, std::uint32_t plane_bytes,
                               std::uint32_t begin, std::uint64_t* to) const {
    const bool in_words = plane_bytes % 8 == 0 && begin % 8 == 0;
    const std::uint32_t steps = in_words ? plane_bytes / 8 : plane_bytes;
    const auto read = [in_words](const std::uint8_t* from, std::uint32_t i) {
      return in_words ? load_word(from + 8 * i) : std::uint64_t{from[i]};
    };
    std::uint64_t live = 0;  // planes with a bit set
    for (std::uint32_t p = 0; p < 8 * shape.element_bytes; ++p)
      if (warp.any(steps, [&](std::uint32_t i) { return read(planes + p * plane_bytes, i) != 0; }))
        live |= std::uint64_t{1} << p;

    for (Index k = 0; k < sets.extent[0]; ++k) {
      const PixelBits set = sets.data[k];
      if (set.last <= begin || set.first >= begin + plane_bytes) continue;
      const std::uint8_t* mask = bits + set.offset + begin;
      const std::uint64_t sum = warp.sum(steps, [&](std::uint32_t i) {
        const std::uint64_t chosen = read(mask, i);
        std::uint64_t partial = 0;
        if (chosen == 0) return partial;
        for (std::uint32_t p = 0; p < 8 * shape.element_bytes; ++p)
          if ((live >> p & 1) != 0)
            partial += static_cast<std::uint64_t>(count_bits(read(planes + p * plane_bytes, i) & chosen)) << p;
        return partial;
      });
      warp.once([&] { shared_add(to + set.slot, sum << set.power); });
    }

    // A plane that must be set and holds no bit at all rules the value out: the rule in counted data.
    if (!has_sentinel || (sentinel & ~live) != 0) return;
    const bool found = warp.any(steps, [&](std::uint32_t i) {
      std::uint64_t equal = read(good + begin, i);
      for (std::uint32_t p = 0; p < 8 * shape.element_bytes; ++p) {
        const std::uint64_t plane = read(planes + p * plane_bytes, i);
        equal &= (sentinel >> p & 1) != 0 ? plane : ~plane;
      }
      return equal != 0;
    });
    if (found) warp.once([&] { shared_add(to + sentinel_slot, 1); });
  }

  /// Elements that are stored as they are.
  template <class Warp>
  SONDE_DEVICE void add_elements(const Warp& warp, const std::uint8_t* elements, std::uint32_t count,
                                 std::uint64_t first, std::uint64_t* to) const {
    const auto value = [&](std::uint32_t i) {
      std::uint64_t sum = 0;
      for (std::uint32_t k = 0; k < shape.element_bytes; ++k)
        sum |= static_cast<std::uint64_t>(elements[static_cast<std::uint64_t>(i) * shape.element_bytes + k]) << (8 * k);
      return sum;
    };
    const auto holds = [](const std::uint8_t* set, std::uint64_t pixel) {
      return (set[pixel / 8] >> pixel % 8 & 1) != 0;
    };
    for (Index k = 0; k < sets.extent[0]; ++k) {
      const PixelBits set = sets.data[k];
      const std::uint64_t sum = warp.sum(
          count, [&](std::uint32_t i) { return holds(bits + set.offset, first + i) ? value(i) : std::uint64_t{0}; });
      warp.once([&] { shared_add(to + set.slot, sum << set.power); });
    }
    if (!has_sentinel) return;
    if (warp.any(count, [&](std::uint32_t i) { return value(i) == sentinel && holds(good, first + i); }))
      warp.once([&] { shared_add(to + sentinel_slot, 1); });
  }

  template <class Warp>
  SONDE_DEVICE void add_plain(const Warp& warp, const ChunkPiece& piece, std::uint64_t* to,
                              std::uint64_t* fault) const {
    if (piece.bytes != shape.elements * shape.element_bytes)
      shared_min(fault, chunk_fault(0, ChunkFault::header));
    else
      add_elements(warp, bytes.data + piece.offset, static_cast<std::uint32_t>(shape.elements), 0, to);
  }
};

}  // namespace sonde::stem::device

namespace sonde::stem::cuda {
void sum_bit_planes(Stream& stream, const LaunchSize& size, const device::SumBitPlanes& body);
}  // namespace sonde::stem::cuda
