// SPDX-License-Identifier: Apache-2.0
// Private: what a BitshuffleScratch holds, and how a chunk divides into blocks.
#pragma once

#include <zstd.h>

#include <cstddef>
#include <memory>
#include <new>
#include <span>

#include "sonde/engine/io/codec/bitshuffle.h"
#include "sonde/engine/io/codec/bitshuffle_kernels.h"

namespace sonde {

/// Bytes on a cache-line boundary that grow when asked for more and are not kept then.
class GrowingBytes {
 public:
  [[nodiscard]] std::span<std::byte> at_least(std::size_t count) {
    if (count > capacity_) {
      bytes_.reset();
      capacity_ = 0;
      bytes_.reset(static_cast<std::byte*>(::operator new(count, alignment)));
      capacity_ = count;
    }
    return {bytes_.get(), count};
  }

 private:
  static constexpr std::align_val_t alignment{64};
  struct Delete {
    void operator()(std::byte* bytes) const { ::operator delete(bytes, alignment); }
  };
  std::unique_ptr<std::byte, Delete> bytes_;
  std::size_t capacity_ = 0;
};

struct BitshuffleScratch::State {
  explicit State(const BitshuffleKernels& the_kernels) : kernels(&the_kernels) {}

  const BitshuffleKernels* kernels;
  GrowingBytes planes;      // one decompressed block
  ZeroRuns zeros;           // of it
  GrowingBytes compressed;  // one compressed block: all when encoding, the last of a chunk when decoding

  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  std::unique_ptr<ZSTD_DCtx, Free> decompressor;  // made by the first zstd chunk
  std::unique_ptr<ZSTD_CCtx, Free> compressor;
};

/// A chunk of `elements` is blocks of block_elements, then at most one of last_elements, then 0 to 7 loose elements.
struct BlockDivision {
  std::size_t block_elements = 0, full_blocks = 0, last_elements = 0, tail_elements = 0;

  BlockDivision(std::size_t elements, std::size_t the_block_elements)
      : block_elements(the_block_elements),
        full_blocks(elements / block_elements),
        last_elements(elements % block_elements - elements % 8),
        tail_elements(elements % 8) {}
  [[nodiscard]] std::size_t blocks() const { return full_blocks + (last_elements > 0 ? 1 : 0); }
  [[nodiscard]] std::size_t elements_of(std::size_t block) const {
    return block < full_blocks ? block_elements : last_elements;
  }
  [[nodiscard]] std::size_t largest_block() const { return full_blocks > 0 ? block_elements : last_elements; }
};

/// 8 bytes of decoded size and 4 bytes of block size, big endian, in front of the first block of lz4 and zstd chunks;
/// 4 bytes of compressed size in front of each block.
inline constexpr std::size_t chunk_header_bytes = 12, block_header_bytes = 4;

/// liblz4 counts in int; no writer comes near this.
inline constexpr std::size_t largest_block_bytes = std::size_t{1} << 30;

/// Throws Error(bad_input) for a format that cannot be, or when `bytes` is no whole number of elements.
void check_format(const BitshuffleFormat& format, std::size_t bytes);

}  // namespace sonde
