// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>
#include <string>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/codec/bitshuffle.h"
#include "sonde/engine/io/codec/bitshuffle_state.h"

namespace sonde {
namespace {

[[noreturn]] void fail(std::string message) { throw Error(ErrorKind::bad_file, std::move(message)); }

std::uint64_t big_endian(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (const std::byte byte : bytes) value = value << 8 | std::to_integer<std::uint64_t>(byte);
  return value;
}

// The number of elements in a block as the chunk's header says it.
std::size_t read_header(std::span<const std::byte> chunk, const BitshuffleFormat& format, std::size_t logical_bytes) {
  if (chunk.size() < chunk_header_bytes)
    fail(fmt::format("the chunk has {} bytes, its header takes {}", chunk.size(), chunk_header_bytes));
  const std::uint64_t decoded_bytes = big_endian(chunk.first(8));
  const std::size_t block_bytes = big_endian(chunk.subspan(8, 4));
  if (decoded_bytes != logical_bytes)
    fail(fmt::format("byte 0: the chunk says that it holds {} bytes, expected {}", decoded_bytes, logical_bytes));
  if (block_bytes == 0) return default_block_elements(format.element_bytes);
  if (block_bytes % format.element_bytes != 0 || block_bytes / format.element_bytes % 8 != 0)
    fail(fmt::format("byte 8: blocks of {} bytes are not a multiple of eight elements of {} bytes", block_bytes,
                     format.element_bytes));
  return block_bytes / format.element_bytes;
}

std::int64_t decompress_zstd(std::span<const std::byte> from, std::span<std::byte> to,
                             BitshuffleScratch::State& state) {
  if (!state.decompressor) state.decompressor.reset(ZSTD_createDCtx());
  if (!state.decompressor) throw std::bad_alloc();
  const std::size_t size =
      ZSTD_decompressDCtx(state.decompressor.get(), to.data(), to.size(), from.data(), from.size());
  return ZSTD_isError(size) != 0 ? -1 : static_cast<std::int64_t>(size);
}

// Walks a chunk block by block: on_block(planes, elements, first element) for those that hold a wanted element, then
// on_tail(bytes, first element).
class ChunkWalk {
 public:
  ChunkWalk(std::span<const std::byte> chunk, const BitshuffleFormat& format, std::size_t logical_bytes,
            ElementRange wanted, BitshuffleScratch::State& state)
      : chunk_(chunk), format_(format), logical_bytes_(logical_bytes), wanted_(wanted), state_(state) {}

  template <class OnBlock, class OnTail>
  void run(OnBlock&& on_block, OnTail&& on_tail) {
    const bool framed = format_.codec != BitshuffleCodec::none;
    const BlockDivision division(logical_bytes_ / format_.element_bytes, framed ? start_framed() : start_plain());
    std::span<std::byte> scratch;
    if (framed) scratch = reserve(division);
    state_.zeros.clear();  // a block that is not compressed has none
    std::size_t first = 0;
    for (std::size_t block = 0; block < division.blocks(); ++block) {
      const std::size_t elements = division.elements_of(block);
      const std::size_t bytes = elements * format_.element_bytes;
      const std::span<const std::byte> stored = framed ? next_framed(block) : next_plain(bytes);
      if (wanted_.meets(first, first + elements))
        on_block(framed ? unpack(block, stored, scratch.first(bytes)) : stored.data(), elements, first);
      first += elements;
    }
    finish(division.tail_elements * format_.element_bytes, first, on_tail);
  }

 private:
  std::size_t start_framed() {
    const std::size_t block_elements = read_header(chunk_, format_, logical_bytes_);
    offset_ = chunk_header_bytes;
    return block_elements;
  }

  std::size_t start_plain() const {
    if (chunk_.size() != logical_bytes_)
      fail(fmt::format("the chunk has {} bytes, expected {} (no compression)", chunk_.size(), logical_bytes_));
    return format_.block_elements != 0 ? format_.block_elements : default_block_elements(format_.element_bytes);
  }

  // A corrupt header cannot ask for more than the chunk's logical size.
  std::span<std::byte> reserve(const BlockDivision& division) {
    const std::size_t bytes = division.largest_block() * format_.element_bytes;
    if (bytes > largest_block_bytes) fail(fmt::format("byte 8: a block of {} bytes, the largest is 1 GiB", bytes));
    return state_.planes.at_least(bytes + lz4_padding_bytes).first(bytes);
  }

  std::span<const std::byte> next_plain(std::size_t bytes) {
    offset_ += bytes;
    return chunk_.subspan(offset_ - bytes, bytes);
  }

  std::span<const std::byte> next_framed(std::size_t block) {
    const std::size_t start = offset_;
    std::size_t left = chunk_.size() - offset_;
    if (left < block_header_bytes)
      fail(fmt::format("block {} at byte {}: the chunk ends {} bytes into its length", block, start, left));
    const std::size_t size = big_endian(chunk_.subspan(offset_, block_header_bytes));
    left -= block_header_bytes;
    offset_ += block_header_bytes;
    if (size > left)
      fail(fmt::format("block {} at byte {}: {} compressed bytes announced, {} are left", block, start, size, left));
    offset_ += size;
    return chunk_.subspan(offset_ - size, size);
  }

  // The planes of a block of which `stored` are the bytes, the last that were taken.
  const std::byte* unpack(std::size_t block, std::span<const std::byte> stored, std::span<std::byte> planes) {
    state_.zeros.clear();
    const std::size_t start = offset_ - stored.size() - block_header_bytes;
    const std::int64_t decoded = decompress(stored, chunk_.size() - offset_, planes);
    const char* codec = format_.codec == BitshuffleCodec::lz4 ? "LZ4" : "zstd";
    if (decoded < 0) fail(fmt::format("block {} at byte {}: not valid {} data", block, start, codec));
    if (static_cast<std::size_t>(decoded) != planes.size())
      fail(fmt::format("block {} at byte {}: decodes to {} bytes, expected {}", block, start, decoded, planes.size()));
    return planes.data();
  }

  // Returns the number of bytes written, or -1; `after` bytes of the chunk follow the block.
  std::int64_t decompress(std::span<const std::byte> block, std::size_t after, std::span<std::byte> planes) {
    if (format_.codec == BitshuffleCodec::zstd) return decompress_zstd(block, planes, state_);
    if (after < lz4_padding_bytes) {  // the last block: a padded copy
      const std::span<std::byte> copy = state_.compressed.at_least(block.size() + lz4_padding_bytes);
      std::memcpy(copy.data(), block.data(), block.size());
      std::memset(copy.data() + block.size(), 0, lz4_padding_bytes);
      block = copy.first(block.size());
    }
    return state_.kernels->decompress_lz4(block.data(), block.size(), planes.data(), planes.size(), state_.zeros);
  }

  template <class OnTail>
  void finish(std::size_t tail_bytes, std::size_t first, OnTail&& on_tail) {
    const std::size_t left = chunk_.size() - offset_;
    if (left != tail_bytes)
      fail(fmt::format("byte {}: {} bytes after the last block, expected {}", offset_, left, tail_bytes));
    if (tail_bytes > 0) on_tail(chunk_.subspan(offset_, tail_bytes), first);
  }

  std::span<const std::byte> chunk_;
  const BitshuffleFormat& format_;
  std::size_t logical_bytes_;
  ElementRange wanted_;
  BitshuffleScratch::State& state_;
  std::size_t offset_ = 0;  // of the chunk, never beyond its end
};

}  // namespace

void decode_bitshuffle(std::span<const std::byte> chunk, const BitshuffleFormat& format, BitshuffleScratch& scratch,
                       std::span<std::byte> out) {
  check_format(format, out.size());
  const BitshuffleKernels& kernels = *scratch.state().kernels;
  const std::size_t element_bytes = format.element_bytes;
  ChunkWalk(chunk, format, out.size(), {}, scratch.state())
      .run(
          [&](const std::byte* planes, std::size_t elements, std::size_t first) {
            elements_from_planes(kernels, planes, elements, element_bytes, out.data() + first * element_bytes,
                                 scratch.state().zeros);
          },
          [&](std::span<const std::byte> tail, std::size_t first) {
            std::memcpy(out.data() + first * element_bytes, tail.data(), tail.size());
          });
}

void detail::visit_bit_planes(std::span<const std::byte> chunk, const BitshuffleFormat& format,
                              std::size_t logical_bytes, ElementRange wanted, BitshuffleScratch& scratch,
                              const PlaneVisitor& visitor) {
  check_format(format, logical_bytes);
  if (format.element_bytes > 8)
    throw Error(ErrorKind::bad_input,
                fmt::format("bit planes of elements of {} bytes, the widest is 8", format.element_bytes));
  const BitshuffleKernels& kernels = *scratch.state().kernels;
  ChunkWalk(chunk, format, logical_bytes, wanted, scratch.state())
      .run(
          [&](const std::byte* planes, std::size_t elements, std::size_t first) {
            BitPlanes block{planes, elements / 8, first, elements, 0};
            const std::uint64_t zero = scratch.state().zeros.pieces(block.plane_bytes);
            for (std::size_t p = 0; p < 8 * format.element_bytes; ++p)
              if ((zero >> p & 1) == 0 && !kernels.all_zero(block.plane(p), block.plane_bytes))
                block.nonzero |= std::uint64_t{1} << p;
            visitor.on_block(visitor.context, block);
          },
          [&](std::span<const std::byte> tail, std::size_t first) {
            visitor.on_tail(visitor.context, {tail, first});
          });
}

}  // namespace sonde
