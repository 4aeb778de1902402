// SPDX-License-Identifier: Apache-2.0
// For kernels and their tests: decoding of bitshuffle chunks by the warps of a GPU, as templates over the team
// (engine/device/team.h), so that the same lines are tested on the CPU. Nothing is read outside a chunk or written
// outside its elements, whatever the bytes are.
#pragma once

#include <cstdint>

#include "sonde/engine/array/view.h"
#include "sonde/engine/device/team.h"
#include "sonde/engine/io/codec/bitshuffle_chunks.h"

namespace sonde::device {

/// Eight neighbouring elements, stored at once.
template <class T>
struct alignas(sizeof(T) == 1 ? 8 : 16) Eight {
  T value[8];
};

/// A number of the lengths that LZ4 continues in bytes of 255. `at` moves behind it and stays below `end`; `length`
/// never passes `most` by more than one byte's worth.
SONDE_DEVICE inline bool extend_length(const std::uint8_t* in, std::uint32_t end, std::uint32_t most, std::uint32_t& at,
                                       std::uint32_t& length) {
  for (std::uint32_t byte = 255; byte == 255;) {
    if (at >= end) return false;
    byte = in[at++];
    length += byte;
    if (length > most) return false;
  }
  return true;
}

/// The `length` bytes from `out` repeat those `distance` before them. Every byte comes from before `out`, so that lanes
/// need not wait for each other; short periods become words.
template <class Warp>
SONDE_DEVICE void repeat_match(const Warp& warp, std::uint8_t* out, std::uint32_t distance, std::uint32_t length) {
  const std::uint8_t* from = out - distance;
  if (distance >= length) {
    warp.each(length, [&](std::uint32_t i) { out[i] = from[i]; });
    return;
  }
  const bool period_fills_words = distance <= 8 && (distance & (distance - 1)) == 0;
  if (!period_fills_words || length < 32) {
    warp.each(length, [&](std::uint32_t i) { out[i] = from[i % distance]; });
    return;
  }
  const auto head = static_cast<std::uint32_t>(-reinterpret_cast<std::uintptr_t>(out) & 7);
  const std::uint32_t words = (length - head) / 8, tail = head + 8 * words;
  std::uint64_t word = 0;
  for (std::uint32_t k = 0; k < 8; ++k)
    word |= static_cast<std::uint64_t>(from[(head + k) & (distance - 1)]) << (8 * k);
  warp.each(head, [&](std::uint32_t i) { out[i] = from[i & (distance - 1)]; });
  warp.each(words, [&](std::uint32_t i) { store_word(out + head + 8 * i, word); });
  warp.each(length - tail, [&](std::uint32_t i) { out[tail + i] = from[(tail + i) & (distance - 1)]; });
}

/// One raw LZ4 block to exactly `out_bytes` bytes; `out` at a multiple of eight. All lanes read the same token, which
/// is one access, and copy together. The ends of a block are judged as the format describes them: the last five bytes
/// are literals, the last match starts twelve bytes before the end or earlier. A distance of zero is a fault.
template <class Warp>
SONDE_DEVICE ChunkFault decode_lz4(const Warp& warp, const std::uint8_t* in, std::uint32_t in_bytes, std::uint8_t* out,
                                   std::uint32_t out_bytes) {
  constexpr std::uint32_t shortest_match = 4, last_literals = 5, last_match_room = 12;
  std::uint32_t at = 0, done = 0;
  for (;;) {
    if (at >= in_bytes) return ChunkFault::lz4;
    const std::uint32_t token = in[at++];

    std::uint32_t length = token >> 4;
    if (length == 15 && !extend_length(in, in_bytes, out_bytes, at, length)) return ChunkFault::lz4;
    const std::uint32_t in_left = in_bytes - at, out_left = out_bytes - done;
    if (length > in_left || length > out_left) return ChunkFault::lz4;
    const bool last = length == in_left;
    // Behind these literals: a distance, at least one more token and the last literals.
    if (!last && (in_left - length < 3 + last_literals || out_left - length < last_match_room)) return ChunkFault::lz4;
    warp.each(length, [&](std::uint32_t i) { out[done + i] = in[at + i]; });
    at += length;
    done += length;
    if (last) return done == out_bytes ? ChunkFault::none : ChunkFault::block_size;

    const std::uint32_t distance = in[at] | static_cast<std::uint32_t>(in[at + 1]) << 8;
    at += 2;
    length = (token & 15) + shortest_match;
    if ((token & 15) == 15 && !extend_length(in, in_bytes - last_literals + 1, out_bytes, at, length))
      return ChunkFault::lz4;
    if (distance == 0 || distance > done || length > out_bytes - done - last_literals) return ChunkFault::lz4;
    repeat_match(warp, out + done, distance, length);
    done += length;
  }
}

/// Transposes an 8x8 bit matrix whose row r is byte r of the word: swaps 1x1, 2x2 and 4x4 blocks across the diagonal.
SONDE_DEVICE inline std::uint64_t transpose_bits(std::uint64_t matrix) {
  std::uint64_t swap = (matrix ^ (matrix >> 7)) & 0x00AA00AA00AA00AAu;
  matrix ^= swap ^ (swap << 7);
  swap = (matrix ^ (matrix >> 14)) & 0x0000CCCC0000CCCCu;
  matrix ^= swap ^ (swap << 14);
  swap = (matrix ^ (matrix >> 28)) & 0x00000000F0F0F0F0u;
  return matrix ^ swap ^ (swap << 28);
}

/// The elements of one block from its bit planes (at a multiple of eight bytes). A lane takes byte j of every plane,
/// which holds elements 8 j ... 8 j + 7. Upper bytes whose planes are all zero, the common case in counted data, cost
/// one look.
template <class T, class Warp>
SONDE_DEVICE void elements_from_planes(const Warp& warp, const std::uint8_t* planes, std::uint32_t elements,
                                       Eight<T>* out) {
  const std::uint32_t plane_bytes = elements / 8;
  bool live[sizeof(T)];
  live[0] = true;
  for (std::uint32_t k = 1; k < sizeof(T); ++k) {
    const std::uint8_t* upper = planes + k * elements;
    live[k] = warp.any(plane_bytes, [&](std::uint32_t i) { return load_word(upper + 8 * i) != 0; });
  }
  warp.each(plane_bytes, [&](std::uint32_t j) {
    Eight<T> eight = {};
    for (std::uint32_t k = 0; k < sizeof(T); ++k) {
      if (!live[k]) continue;
      std::uint64_t matrix = 0;
      for (std::uint32_t t = 0; t < 8; ++t)
        matrix |= static_cast<std::uint64_t>(planes[(8 * k + t) * plane_bytes + j]) << (8 * t);
      matrix = transpose_bits(matrix);
      for (std::uint32_t i = 0; i < 8; ++i)
        eight.value[i] = static_cast<T>(eight.value[i] | static_cast<T>(((matrix >> (8 * i)) & 255) << (8 * k)));
    }
    out[j] = eight;
  });
}

SONDE_DEVICE inline std::uint64_t big_endian(const std::uint8_t* bytes, int count) {
  std::uint64_t value = 0;
  for (int i = 0; i < count; ++i) value = value << 8 | bytes[i];
  return value;
}

/// An element of bytes that are not aligned.
template <class T>
SONDE_DEVICE T little_endian(const std::uint8_t* bytes) {
  T value = 0;
  for (std::uint32_t k = 0; k < sizeof(T); ++k) value = static_cast<T>(value | static_cast<T>(bytes[k]) << (8 * k));
  return value;
}

/// How all chunks of a buffer divide into blocks.
struct ChunkShape {
  std::uint64_t elements = 0;
  std::uint32_t element_bytes = 1;
  std::uint32_t block_elements = 0;                                 // of chunks without header
  std::uint32_t default_block_elements = 0;                         // where a header leaves it open
  std::uint32_t staging_bytes = 0;                                  // for one decompressed block; a multiple of 16
  std::uint64_t wanted_first = 0, wanted_last = ~std::uint64_t{0};  // blocks without these elements stay packed
};

/// The shape that `block_elements` of a format (0: the default) and the largest block of all chunks make.
[[nodiscard]] ChunkShape chunk_shape(std::uint64_t elements, std::size_t element_bytes, std::size_t block_elements,
                                     std::size_t largest_block_bytes);
/// Thread blocks for that many chunks, with staging for every warp.
[[nodiscard]] LaunchSize chunk_launch(Device where, Index chunks, const ChunkShape& shape);

template <class Warp>
SONDE_DEVICE ChunkFault unpack_block(const Warp& warp, bool framed, const std::uint8_t* stored,
                                     std::uint32_t stored_bytes, std::uint8_t* staging, std::uint32_t block_bytes) {
  if (framed) return decode_lz4(warp, stored, stored_bytes, staging, block_bytes);
  warp.each(block_bytes, [&](std::uint32_t i) { staging[i] = stored[i]; });
  return ChunkFault::none;
}

/// Follows a chunk from block to block and decompresses those that fall to warp `w` of `warps` and hold a wanted
/// element: on_block(planes, elements, first element), then on_tail(bytes, elements, first element) by warp 0 when
/// there are loose elements. Every warp follows the lengths of all blocks, which needs no memory and costs one short
/// load per block. Returns what chunk_fault makes of the first fault that this warp meets, else no_chunk_fault; the
/// same for all lanes.
template <class Warp, class OnBlock, class OnTail>
SONDE_DEVICE std::uint64_t walk_chunk(const Warp& warp, std::uint32_t w, std::uint32_t warps, const std::uint8_t* chunk,
                                      const ChunkPiece& piece, const ChunkShape& shape, std::uint8_t* staging,
                                      OnBlock&& on_block, OnTail&& on_tail) {
  const std::uint64_t element_bytes = shape.element_bytes;
  const bool framed = piece.form == ChunkForm::lz4;
  std::uint64_t block_size = shape.block_elements, at = 0;  // elements; offset in the chunk
  if (framed) {
    if (piece.bytes < 12 || big_endian(chunk, 8) != shape.elements * element_bytes)
      return chunk_fault(0, ChunkFault::header);
    const std::uint64_t block_bytes = big_endian(chunk + 8, 4);
    if (block_bytes % (8 * element_bytes) != 0) return chunk_fault(0, ChunkFault::header);
    block_size = block_bytes != 0 ? block_bytes / element_bytes : shape.default_block_elements;
    at = 12;
  } else if (piece.bytes != shape.elements * element_bytes) {
    return chunk_fault(0, ChunkFault::header);
  }

  const std::uint64_t whole = shape.elements / 8 * 8;  // the last elements, fewer than eight, are stored as they are
  std::uint64_t first = 0;
  for (std::uint32_t block = 0; first < whole; ++block) {
    const std::uint64_t now = whole - first < block_size ? whole - first : block_size;
    const std::uint64_t block_bytes = now * element_bytes;
    if (block_bytes > shape.staging_bytes) return chunk_fault(block, ChunkFault::too_large);
    std::uint64_t stored = block_bytes;
    if (framed) {
      if (piece.bytes - at < 4) return chunk_fault(block, ChunkFault::length);
      stored = big_endian(chunk + at, 4);
      at += 4;
      if (stored > piece.bytes - at) return chunk_fault(block, ChunkFault::length);
    }
    if (block % warps == w && first < shape.wanted_last && shape.wanted_first < first + now) {
      const ChunkFault found = unpack_block(warp, framed, chunk + at, static_cast<std::uint32_t>(stored), staging,
                                            static_cast<std::uint32_t>(block_bytes));
      if (found != ChunkFault::none) return chunk_fault(block, found);
      on_block(staging, static_cast<std::uint32_t>(now), first);
    }
    at += stored;
    first += now;
  }
  constexpr std::uint32_t behind_all_blocks = 0xffffffu;
  const auto loose = static_cast<std::uint32_t>(shape.elements - whole);
  if (piece.bytes - at != loose * element_bytes) return chunk_fault(behind_all_blocks, ChunkFault::tail);
  if (w == 0 && loose > 0) on_tail(chunk + at, loose, whole);
  return no_chunk_fault;
}

/// All chunks of a buffer, one thread block per chunk and one warp per bit-transposed block; see decode_chunks. Each
/// warp has the shape's `staging_bytes` of the block's scratch.
template <class T>
struct DecodeChunks {
  View<const std::uint8_t, 1> bytes;
  View<const ChunkPiece, 1> pieces;
  ChunkShape shape;
  View<T, 2> elements;
  View<std::uint64_t, 1> faults;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    for (Index chunk = block.index(); chunk < pieces.extent[0]; chunk += block.count()) {
      std::uint64_t* fault = faults.data + chunk;
      T* out = elements.data + chunk * elements.stride[0];
      const ChunkPiece piece = pieces.data[chunk];
      block.once([&] { *fault = no_chunk_fault; });
      if (piece.form == ChunkForm::plain)
        copy_elements(block, piece, out, fault);
      else if (piece.form != ChunkForm::absent)
        decode(block, piece, out, fault);
      // A broken chunk is zeros all over; of the faults that warps have met, the one in the first block remains.
      if (piece.form == ChunkForm::absent || *fault != no_chunk_fault)
        block.each(elements.extent[1], [&](Index i) { out[i] = 0; });
    }
  }

 private:
  template <class Block>
  SONDE_DEVICE void copy_elements(Block& block, const ChunkPiece& piece, T* out, std::uint64_t* fault) const {
    const Index count = elements.extent[1];
    if (piece.bytes != static_cast<std::uint64_t>(count) * sizeof(T)) {
      block.once([&] { *fault = chunk_fault(0, ChunkFault::header); });
      return;
    }
    const std::uint8_t* from = bytes.data + piece.offset;
    block.each(count, [&](Index i) { out[i] = little_endian<T>(from + i * static_cast<Index>(sizeof(T))); });
  }

  template <class Block>
  SONDE_DEVICE void decode(Block& block, const ChunkPiece& piece, T* out, std::uint64_t* fault) const {
    block.each_warp([&](const auto& warp, std::uint32_t w, std::uint32_t warps) {
      std::uint8_t* staging = block.scratch() + static_cast<std::size_t>(w) * shape.staging_bytes;
      const std::uint64_t found = walk_chunk(
          warp, w, warps, bytes.data + piece.offset, piece, shape, staging,
          [&](const std::uint8_t* planes, std::uint32_t count, std::uint64_t first) {
            elements_from_planes<T>(warp, planes, count, reinterpret_cast<Eight<T>*>(out + first));
          },
          [&](const std::uint8_t* loose, std::uint32_t count, std::uint64_t first) {
            warp.each(count, [&](std::uint32_t i) { out[first + i] = little_endian<T>(loose + i * sizeof(T)); });
          });
      if (found != no_chunk_fault) shared_min(fault, found);
    });
  }
};

}  // namespace sonde::device

namespace sonde::cuda {
template <class T>
void decode_chunks(Stream& stream, const LaunchSize& size, const device::DecodeChunks<T>& body);
}  // namespace sonde::cuda
