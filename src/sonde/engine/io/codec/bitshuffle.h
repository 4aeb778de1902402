// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace sonde {

struct BitshuffleKernels;

/// How the bit-transposed blocks of a chunk are compressed; the values are client data [4] of HDF5 filter 32008.
enum class BitshuffleCodec : std::uint32_t { none = 0, lz4 = 2, zstd = 3 };

/// What client data of HDF5 filter 32008 say of every chunk of a data set.
struct BitshuffleFormat {
  std::size_t element_bytes = 0;   ///< any size from 1 upwards: client data [2]
  std::size_t block_elements = 0;  ///< a multiple of 8; 0 = default. Reading lz4 and zstd, the chunk's header decides.
  BitshuffleCodec codec = BitshuffleCodec::lz4;
};

/// max(128, 8 floor(8192 / element_bytes / 8)): blocks of 8 KiB, which stay in the first-level cache.
[[nodiscard]] std::size_t default_block_elements(std::size_t element_bytes);

/// What one worker needs between chunks: a decompressed and a compressed block and the compressors' states. It grows to
/// the largest blocks seen, never beyond the sizes of chunk and elements, and allocates nothing after that. One thread
/// at a time.
class BitshuffleScratch {
 public:
  /// Takes the fastest kernels that this processor runs.
  BitshuffleScratch();
  /// Takes given kernels (tests force each in turn; see bitshuffle_kernels.h).
  explicit BitshuffleScratch(const BitshuffleKernels& kernels);
  BitshuffleScratch(BitshuffleScratch&&) noexcept;
  BitshuffleScratch& operator=(BitshuffleScratch&&) noexcept;
  ~BitshuffleScratch();

  struct State;
  [[nodiscard]] State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

/// Decodes one whole chunk into `out`, whose size is the chunk's logical size in bytes (a chunk at the edge of a data
/// set is stored whole). Little-endian elements, in the order of the chunk. Neither reads outside `chunk` nor writes
/// outside `out`, whatever the bytes are. Throws Error(bad_file) that names the block and the byte of the chunk where
/// the fault is (`out` then holds anything), Error(bad_input) for a format that cannot be. Reads the chunk and writes
/// `out` once; a 16-bit or 32-bit block whose upper bytes are all zero costs only its lower ones.
void decode_bitshuffle(std::span<const std::byte> chunk, const BitshuffleFormat& format, BitshuffleScratch& scratch,
                       std::span<std::byte> out);

/// Appends the chunk that decodes to `elements` (a whole number of elements) to `chunk`. LZ4 at its default speed, zstd
/// at level 3. Throws Error(bad_input) for a format that cannot be or for blocks above 1 GiB.
void encode_bitshuffle(std::span<const std::byte> elements, const BitshuffleFormat& format, BitshuffleScratch& scratch,
                       std::vector<std::byte>& chunk);
[[nodiscard]] std::vector<std::byte> encode_bitshuffle(std::span<const std::byte> elements,
                                                       const BitshuffleFormat& format);

/// One block as it is stored once decompressed. Plane 8 k + t is bit t of byte k of every element; its byte j holds
/// elements first + 8 j ... first + 8 j + 7, the lowest in bit 0. Valid during the visit only.
struct BitPlanes {
  const std::byte* planes = nullptr;  ///< 8 element_bytes planes, one after another; not aligned
  std::size_t plane_bytes = 0;        ///< elements / 8
  std::size_t first = 0;              ///< index of the first element within the chunk
  std::size_t elements = 0;           ///< a multiple of 8
  std::uint64_t nonzero = 0;          ///< bit p is set when plane p has a set bit

  [[nodiscard]] const std::byte* plane(std::size_t p) const { return planes + p * plane_bytes; }
};

/// The up to seven last elements of a chunk, stored as they are.
struct BitshuffleTail {
  std::span<const std::byte> bytes;
  std::size_t first = 0;  ///< index of the first element within the chunk
};

/// Elements [first, last) of a chunk; all of them unless said otherwise.
struct ElementRange {
  std::size_t first = 0, last = std::numeric_limits<std::size_t>::max();
  [[nodiscard]] bool meets(std::size_t begin, std::size_t end) const { return begin < last && first < end; }
};

namespace detail {
struct PlaneVisitor {
  void* context;
  void (*on_block)(void* context, const BitPlanes& block);
  void (*on_tail)(void* context, const BitshuffleTail& tail);
};
void visit_bit_planes(std::span<const std::byte> chunk, const BitshuffleFormat& format, std::size_t logical_bytes,
                      ElementRange wanted, BitshuffleScratch& scratch, const PlaneVisitor& visitor);
}  // namespace detail

/// Walks a chunk of `logical_bytes` decoded bytes without transposing it: on_block(const BitPlanes&) for each block
/// that holds a wanted element, in order, then on_tail(const BitshuffleTail&) when there are such elements. Elements of
/// up to 8 bytes. Throws like decode_bitshuffle; blocks before a fault have been visited by then. Costs the
/// decompression and one look at each plane; of blocks that hold nothing wanted only the length is read.
template <class OnBlock, class OnTail>
void visit_bit_planes(std::span<const std::byte> chunk, const BitshuffleFormat& format, std::size_t logical_bytes,
                      ElementRange wanted, BitshuffleScratch& scratch, OnBlock&& on_block, OnTail&& on_tail) {
  struct Both {
    std::remove_reference_t<OnBlock>* on_block;
    std::remove_reference_t<OnTail>* on_tail;
  } both{std::addressof(on_block), std::addressof(on_tail)};
  detail::visit_bit_planes(
      chunk, format, logical_bytes, wanted, scratch,
      {&both, [](void* context, const BitPlanes& block) { (*static_cast<Both*>(context)->on_block)(block); },
       [](void* context, const BitshuffleTail& tail) { (*static_cast<Both*>(context)->on_tail)(tail); }});
}

}  // namespace sonde
