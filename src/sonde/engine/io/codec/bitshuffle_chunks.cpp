// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/codec/bitshuffle_chunks.h"

#include <fmt/format.h>

#include <algorithm>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/dispatch.h"
#include "sonde/engine/io/codec/bitshuffle_device.h"

namespace sonde {
namespace {

// Sixteen warps of 128 registers fill half of a multiprocessor: a second thread block hides the first one's barriers.
constexpr std::size_t most_warps = 16;

std::size_t staging_bytes_for(std::size_t largest_block_bytes) {
  return (std::max<std::size_t>(largest_block_bytes, 16) + 15) / 16 * 16;
}

std::size_t scratch_limit(Device device) {
  return device.is_cpu() ? std::size_t{1} << 32 : device.info().shared_memory_bytes;
}

const char* reason(ChunkFault fault) {
  switch (fault) {
    case ChunkFault::header:
      return "the sizes in the header or of the chunk do not suit";
    case ChunkFault::length:
      return "is longer than what is left of the chunk";
    case ChunkFault::lz4:
      return "not valid LZ4 data";
    case ChunkFault::block_size:
      return "decodes to too few bytes";
    case ChunkFault::tail:
      return "too few or too many bytes after the last block";
    case ChunkFault::too_large:
      return "larger than the memory of a warp";
    case ChunkFault::none:
      break;
  }
  return "no fault";
}

}  // namespace

std::string chunk_fault_text(std::uint64_t fault) {
  const auto kind = static_cast<ChunkFault>(fault & 255);
  if (kind == ChunkFault::header || kind == ChunkFault::tail) return reason(kind);
  return fmt::format("block {}: {}", fault >> 8, reason(kind));
}

bool can_decode_blocks(Device device, std::size_t largest_block_bytes) {
  return staging_bytes_for(largest_block_bytes) <= scratch_limit(device);
}

device::ChunkShape device::chunk_shape(std::uint64_t elements, std::size_t element_bytes, std::size_t block_elements,
                                       std::size_t largest_block_bytes) {
  ChunkShape shape;
  shape.elements = elements;
  shape.element_bytes = static_cast<std::uint32_t>(element_bytes);
  shape.default_block_elements = static_cast<std::uint32_t>(default_block_elements(element_bytes));
  shape.block_elements =
      block_elements != 0 ? static_cast<std::uint32_t>(block_elements) : shape.default_block_elements;
  shape.staging_bytes = static_cast<std::uint32_t>(staging_bytes_for(largest_block_bytes));
  return shape;
}

LaunchSize device::chunk_launch(Device where, Index chunks, const ChunkShape& shape) {
  // As many warps as a chunk has blocks; with more blocks than warps, as many to each.
  const std::size_t blocks = (shape.elements * shape.element_bytes + shape.staging_bytes - 1) / shape.staging_bytes;
  const std::size_t most = std::clamp<std::size_t>(scratch_limit(where) / shape.staging_bytes, 1, most_warps);
  const std::size_t rounds = std::max<std::size_t>(1, (blocks + most - 1) / most);
  LaunchSize size;
  size.blocks = chunks;
  size.warps = static_cast<std::uint32_t>(std::max<std::size_t>(1, (blocks + rounds - 1) / rounds));
  size.scratch_bytes = std::size_t{size.warps} * shape.staging_bytes;
  return size;
}

namespace cpu {
template <class T>
void decode_chunks(const LaunchSize& size, const device::DecodeChunks<T>& body) {
  run_serially(size, body);
}
}  // namespace cpu

template <class T>
void decode_chunks(Stream& stream, View<const std::uint8_t, 1> bytes, View<const ChunkPiece, 1> pieces,
                   std::size_t block_elements, std::size_t largest_block_bytes, View<T, 2> elements,
                   View<std::uint64_t, 1> faults) {
  if (!can_decode_blocks(stream.device(), largest_block_bytes))
    throw Error(ErrorKind::not_supported,
                fmt::format("bitshuffle blocks of {} bytes do not fit the shared memory of {} ({} bytes)",
                            largest_block_bytes, stream.device().name(), scratch_limit(stream.device())))
        .hint("use " + setting("device", "cpu"));
  device::DecodeChunks<T> body;
  body.bytes = bytes;
  body.pieces = pieces;
  body.shape = device::chunk_shape(static_cast<std::uint64_t>(elements.extent[1]), sizeof(T), block_elements,
                                   largest_block_bytes);
  body.elements = elements;
  body.faults = faults;
  const LaunchSize size = device::chunk_launch(stream.device(), pieces.extent[0], body.shape);
  SONDE_DISPATCH(stream, decode_chunks, size, body);
}

#define SONDE_INSTANTIATE(T)                                                                                   \
  template void decode_chunks<T>(Stream&, View<const std::uint8_t, 1>, View<const ChunkPiece, 1>, std::size_t, \
                                 std::size_t, View<T, 2>, View<std::uint64_t, 1>)
SONDE_INSTANTIATE(std::uint8_t);
SONDE_INSTANTIATE(std::uint16_t);
SONDE_INSTANTIATE(std::uint32_t);
#undef SONDE_INSTANTIATE

}  // namespace sonde
