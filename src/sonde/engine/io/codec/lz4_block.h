// SPDX-License-Identifier: Apache-2.0
// Private: LZ4 blocks (the raw format, without a frame).
#pragma once

#include <cstddef>
#include <cstdint>

namespace sonde {

/// Both buffers have this many bytes beyond their ends that may be read, and overwritten in the case of `to`.
inline constexpr std::size_t lz4_padding_bytes = 64;

/// Decompresses one block. Returns the number of bytes written, at most to_bytes, or -1 for what is no LZ4 block. The
/// same bytes as liblz4's LZ4_decompress_safe for every block that it accepts. Throws nothing.
using DecompressLz4 = std::int64_t(const std::byte* from, std::size_t from_bytes, std::byte* to, std::size_t to_bytes);

/// liblz4. It takes an offset of 0, which the format forbids, for anything.
DecompressLz4 decompress_lz4_block;
#ifdef SONDE_BITSHUFFLE_X86
/// Refuses offsets of 0.
DecompressLz4 decompress_lz4_block_avx512;
#endif

}  // namespace sonde
