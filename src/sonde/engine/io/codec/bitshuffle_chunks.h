// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "sonde/engine/array/view.h"
#include "sonde/engine/device/stream.h"
#include "sonde/engine/io/codec/bitshuffle.h"

namespace sonde {

/// How the elements of a chunk are stored: as they are, as bit planes (codec 0), or as bit planes in LZ4 blocks. Absent
/// chunks are zeros without a fault.
enum class ChunkForm : std::uint32_t { plain, planes, lz4, absent };

/// One chunk in a buffer of many.
struct ChunkPiece {
  std::uint64_t offset = 0, bytes = 0;  ///< into the buffer
  ChunkForm form = ChunkForm::lz4;
};

/// What is wrong with a chunk.
enum class ChunkFault : std::uint32_t {
  none,
  header,      ///< sizes in the header, or of the whole chunk, that do not suit
  length,      ///< a block longer than what is left
  lz4,         ///< not valid LZ4 data
  block_size,  ///< a block that decodes to fewer bytes than it should
  tail,        ///< too few or too many bytes behind the last block
  too_large,   ///< a block larger than the scratch of a warp
};

inline constexpr std::uint64_t no_chunk_fault = ~std::uint64_t{0};
/// What decode_chunks records: of two faults of a chunk the smaller number is the one in the earlier block.
SONDE_HOST_DEVICE constexpr std::uint64_t chunk_fault(std::uint32_t block, ChunkFault fault) {
  return static_cast<std::uint64_t>(block) << 8 | static_cast<std::uint64_t>(fault);
}
/// "block 3: not valid LZ4 data".
[[nodiscard]] std::string chunk_fault_text(std::uint64_t fault);

/// Blocks that a device can decode with `largest_block_bytes` each: the CPU any, a GPU those that fit its shared
/// memory.
[[nodiscard]] bool can_decode_blocks(Device device, std::size_t largest_block_bytes);

/// Decodes chunk k of `pieces` into elements(k, .), T = u8, u16 or u32; all views lie in the memory of the stream's
/// device. Rows of `elements` start at multiples of 16 bytes (of 8 for u8). A broken chunk becomes zeros and faults(k)
/// says why; whole ones get no_chunk_fault. `block_elements` is what the format says (0: the default), which the header
/// of an lz4 chunk overrides; `largest_block_bytes` is the largest block of all. Reads every chunk and writes every
/// element once. On a GPU one thread block per chunk, one warp per block; on the CPU the same logic on one thread,
/// which is there for tests: decode_bitshuffle is the fast one.
template <class T>
void decode_chunks(Stream& stream, View<const std::uint8_t, 1> bytes, View<const ChunkPiece, 1> pieces,
                   std::size_t block_elements, std::size_t largest_block_bytes, View<T, 2> elements,
                   View<std::uint64_t, 1> faults);

}  // namespace sonde
