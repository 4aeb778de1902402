// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <lz4.h>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/codec/bitshuffle.h"
#include "sonde/engine/io/codec/bitshuffle_state.h"

namespace sonde {
namespace {

constexpr int zstd_level = 3;

void append(std::vector<std::byte>& chunk, std::span<const std::byte> bytes) {
  chunk.insert(chunk.end(), bytes.begin(), bytes.end());
}

void append_big_endian(std::vector<std::byte>& chunk, std::uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) chunk.push_back(static_cast<std::byte>(value >> shift));
}

std::span<const std::byte> compress(BitshuffleCodec codec, std::span<const std::byte> planes,
                                    BitshuffleScratch::State& state) {
  if (codec == BitshuffleCodec::lz4) {
    const int size = static_cast<int>(planes.size());
    const std::span<std::byte> to = state.compressed.at_least(static_cast<std::size_t>(LZ4_compressBound(size)));
    const int written = LZ4_compress_default(reinterpret_cast<const char*>(planes.data()),
                                             reinterpret_cast<char*>(to.data()), size, static_cast<int>(to.size()));
    if (written <= 0) throw Error(ErrorKind::internal, fmt::format("LZ4 did not compress {} bytes", size));
    return to.first(static_cast<std::size_t>(written));
  }
  if (!state.compressor) state.compressor.reset(ZSTD_createCCtx());
  if (!state.compressor) throw std::bad_alloc();
  const std::span<std::byte> to = state.compressed.at_least(ZSTD_compressBound(planes.size()));
  const std::size_t written =
      ZSTD_compressCCtx(state.compressor.get(), to.data(), to.size(), planes.data(), planes.size(), zstd_level);
  if (ZSTD_isError(written) != 0)
    throw Error(ErrorKind::internal,
                fmt::format("zstd did not compress {} bytes: {}", planes.size(), ZSTD_getErrorName(written)));
  return to.first(written);
}

}  // namespace

void encode_bitshuffle(std::span<const std::byte> elements, const BitshuffleFormat& format, BitshuffleScratch& scratch,
                       std::vector<std::byte>& chunk) {
  check_format(format, elements.size());
  BitshuffleScratch::State& state = scratch.state();
  const std::size_t block_elements =
      format.block_elements != 0 ? format.block_elements : default_block_elements(format.element_bytes);
  if (block_elements > largest_block_bytes / format.element_bytes)
    throw Error(ErrorKind::bad_input, fmt::format("bitshuffle: blocks of {} elements of {} bytes, the largest is 1 GiB",
                                                  block_elements, format.element_bytes));
  const BlockDivision division(elements.size() / format.element_bytes, block_elements);
  const bool framed = format.codec != BitshuffleCodec::none;
  if (framed) {
    append_big_endian(chunk, elements.size(), 8);
    append_big_endian(chunk, block_elements * format.element_bytes, 4);
  }
  std::size_t done = 0;  // bytes of `elements`
  for (std::size_t block = 0; block < division.blocks(); ++block) {
    const std::size_t count = division.elements_of(block);
    const std::span<std::byte> planes = state.planes.at_least(count * format.element_bytes);
    planes_from_elements(*state.kernels, elements.data() + done, count, format.element_bytes, planes.data());
    if (framed) {
      const std::span<const std::byte> compressed = compress(format.codec, planes, state);
      append_big_endian(chunk, compressed.size(), 4);
      append(chunk, compressed);
    } else {
      append(chunk, planes);
    }
    done += planes.size();
  }
  append(chunk, elements.subspan(done));
}

std::vector<std::byte> encode_bitshuffle(std::span<const std::byte> elements, const BitshuffleFormat& format) {
  BitshuffleScratch scratch;
  std::vector<std::byte> chunk;
  encode_bitshuffle(elements, format, scratch, chunk);
  return chunk;
}

}  // namespace sonde
