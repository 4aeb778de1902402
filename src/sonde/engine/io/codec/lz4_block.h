// SPDX-License-Identifier: Apache-2.0
// Private: LZ4 blocks (the raw format, without a frame).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace sonde {

/// Both buffers have this many bytes beyond their ends that may be read, and overwritten in the case of `to`.
inline constexpr std::size_t lz4_padding_bytes = 64;

/// Where a decoder met zeros as the repeat of zeros: bit planes of counts are mostly that, and nobody needs to look at
/// them again. Not every zero of a block is in one of these runs.
class ZeroRuns {
 public:
  void clear() { count_ = 0; }
  /// Bytes [first, last) of the block are zero. What does not fit is forgotten.
  void add(std::size_t first, std::size_t last) {
    if (count_ < runs_.size()) runs_[count_++] = {first, last};
  }
  /// Whether one run holds all bytes [first, last).
  [[nodiscard]] bool cover(std::size_t first, std::size_t last) const {
    for (std::size_t i = 0; i < count_; ++i)
      if (runs_[i].first <= first && last <= runs_[i].last) return true;
    return false;
  }
  /// Of pieces [k size, (k + 1) size), k < 64: one bit for each that lies in a run.
  [[nodiscard]] std::uint64_t pieces(std::size_t size) const {
    std::uint64_t covered = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      const std::size_t first = quotient(runs_[i].first + size - 1, size), last = quotient(runs_[i].last, size);
      if (first < last && first < 64) covered |= below(last) & ~below(first);
    }
    return covered;
  }

 private:
  struct Run {
    std::size_t first, last;
  };
  static std::uint64_t below(std::size_t k) { return k < 64 ? (std::uint64_t{1} << k) - 1 : ~std::uint64_t{0}; }
  /// Planes mostly have a power of two of bytes, and a division takes longer than all else here.
  static std::size_t quotient(std::size_t bytes, std::size_t size) {
    return std::has_single_bit(size) ? bytes >> std::countr_zero(size) : bytes / size;
  }
  std::array<Run, 16> runs_{};
  std::size_t count_ = 0;
};

/// Decompresses one block. Returns the number of bytes written, at most to_bytes, or -1 for what is no LZ4 block. The
/// same bytes as liblz4's LZ4_decompress_safe for every block that it accepts. Adds runs of zeros that it met to
/// `zeros`. Throws nothing.
using DecompressLz4 = std::int64_t(const std::byte* from, std::size_t from_bytes, std::byte* to, std::size_t to_bytes,
                                   ZeroRuns& zeros);

/// liblz4. It takes an offset of 0, which the format forbids, for anything. Knows no runs.
DecompressLz4 decompress_lz4_block;
#ifdef SONDE_BITSHUFFLE_X86
/// Refuses offsets of 0.
DecompressLz4 decompress_lz4_block_avx512;
#endif

}  // namespace sonde
