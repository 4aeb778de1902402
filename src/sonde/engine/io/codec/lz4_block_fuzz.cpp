// SPDX-License-Identifier: Apache-2.0
// One input: 16-bit decoded size, then a block. What the own decoder accepts, liblz4 must accept with the same bytes;
// what liblz4 makes of the input, taken as content, must be restored by both.
#include <lz4.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "sonde/engine/device/device.h"
#include "sonde/engine/io/codec/lz4_block.h"

namespace {

using namespace sonde;
using Bytes = std::vector<std::byte>;

Bytes padded(const void* bytes, std::size_t size) {
  Bytes copy(size + lz4_padding_bytes);
  if (size > 0) std::memcpy(copy.data(), bytes, size);
  return copy;
}

void check(DecompressLz4* decompress, const Bytes& block, std::size_t to_bytes, bool must_accept) {
  const std::size_t size = block.size() - lz4_padding_bytes;
  Bytes own(to_bytes + lz4_padding_bytes), reference(to_bytes + lz4_padding_bytes);
  ZeroRuns zeros, none;
  const std::int64_t written = decompress(block.data(), size, own.data(), to_bytes, zeros);
  if (written < 0 && must_accept) std::abort();
  if (written < 0) return;
  if (decompress_lz4_block(block.data(), size, reference.data(), to_bytes, none) != written) std::abort();
  for (std::size_t i = 0; i < static_cast<std::size_t>(written); ++i)
    if (zeros.cover(i, i + 1) && reference[i] != std::byte{0}) std::abort();
  if (std::memcmp(own.data(), reference.data(), static_cast<std::size_t>(written)) != 0) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size < 3) return 0;
  DecompressLz4* decompress = decompress_lz4_block;
#ifdef SONDE_BITSHUFFLE_X86
  if (Device::cpu().info().can.gfni) decompress = decompress_lz4_block_avx512;
#endif
  check(decompress, padded(bytes + 2, size - 2), 1 + bytes[0] + 256 * std::size_t{bytes[1]}, false);
  const int content = static_cast<int>(size);
  Bytes block(static_cast<std::size_t>(LZ4_compressBound(content)));
  const int written = LZ4_compress_default(reinterpret_cast<const char*>(bytes), reinterpret_cast<char*>(block.data()),
                                           content, static_cast<int>(block.size()));
  check(decompress, padded(block.data(), static_cast<std::size_t>(written)), size, true);
  return 0;
}
