// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/engine/device/stream.h"
#include "sonde/engine/io/codec/bitshuffle.h"
#include "sonde/engine/io/codec/bitshuffle_chunks.h"
#include "sonde/instruments/stem/image/mask.h"

namespace sonde::stem {

struct BitplaneKernels;

/// What one frame's chunk says.
struct BitplaneSums {
  static constexpr std::size_t most_masks = 16;
  /// Where the sums of many chunks lie in a row: those of the masks, then these.
  static constexpr std::uint32_t total_slot = most_masks, moment_row_slot = 17, moment_col_slot = 18,
                                 sentinel_slot = 19, slots = 20;

  std::array<std::uint64_t, most_masks> masks{};  ///< sum over the pixels of each mask
  std::uint64_t total = 0;                        ///< over the pixels of the moments' mask: sum of I,
  std::uint64_t moment_row = 0;                   ///< of row I
  std::uint64_t moment_col = 0;                   ///< and of col I
  /// Of each of Options::apart: the sum without values that mean "no data", and how many of those it holds.
  struct Apart {
    std::uint64_t sum = 0, no_data = 0;
  };
  static constexpr std::size_t most_apart = 3;
  std::array<Apart, most_apart> apart{};
  /// A good pixel of the blocks that the masks touch holds the "no data" value: the sums may be wrong then, and the
  /// frame must be decoded instead.
  bool sentinel = false;
};

/// Up to sixteen boolean detectors evaluated on the bit planes of bitshuffled chunks, without ever building the frame:
///   sum over q in M of I(q) = sum over planes p of 2^p popcount(plane_p AND M),
/// and first moments likewise with masks of the coordinates' bits. Exact. Planes that are zero cost nothing.
/// Prepared once per detector geometry; evaluate() is const, allocates nothing and may run in many threads at once.
class BitplaneMasks {
 public:
  struct Options {
    std::vector<std::uint8_t> good;         ///< (rows, cols), zero where a pixel is bad; empty: all are good
    std::optional<std::uint64_t> sentinel;  ///< the value that means "no data", if the format has one
    bool moments = false;                   ///< total and first moments too
    std::optional<Mask> moments_of;         ///< over these pixels; none: all good ones
    /// Up to three further sets, whether their pixels are good or not, whose values that mean "no data" are left out
    /// one by one instead of giving up the frame. Only on the CPU.
    std::vector<Mask> apart{};
  };

  /// One chunk is one frame of rows x cols elements of `element_bytes` (1, 2 or 4). Bad pixels are left out of every
  /// mask. Throws Error(bad_input) for weighted masks, masks of another size, more than sixteen of them.
  static BitplaneMasks prepare(Index rows, Index cols, std::size_t element_bytes, std::span<const Mask> masks,
                               const Options& options);

  /// Costs, of the blocks from the first to the last that a mask touches, the decompression, one look at every plane,
  /// and one AND and popcount per mask and non-zero plane. Throws Error(bad_file) like decode_bitshuffle; what lies
  /// outside those blocks is not looked at.
  void evaluate(std::span<const std::byte> chunk, const BitshuffleFormat& format, BitshuffleScratch& scratch,
                BitplaneSums& sums) const;

  /// With given kernels; tests force each in turn.
  void evaluate(const BitplaneKernels& kernels, std::span<const std::byte> chunk, const BitshuffleFormat& format,
                BitshuffleScratch& scratch, BitplaneSums& sums) const;

  /// Many chunks in one call, on the stream's device, where all views lie: sums(chunk, slot) as BitplaneSums names the
  /// slots; the sentinel's counts the blocks that hold one in a good pixel. Pieces, sizes of blocks and faults as in
  /// decode_chunks; broken and absent chunks sum to zero. Returns when the sums are there.
  void evaluate(Stream& stream, View<const std::uint8_t, 1> bytes, View<const ChunkPiece, 1> pieces,
                std::size_t block_elements, std::size_t largest_block_bytes, View<std::uint64_t, 2> sums,
                View<std::uint64_t, 1> faults) const;

  [[nodiscard]] std::size_t count() const { return masks_; }

 private:
  /// A set of pixels, one bit each in element order, and where in the result its sum goes.
  struct Bits {
    std::vector<std::byte> bytes;
    std::size_t first = 0, last = 0;  // bytes outside hold no pixel
    std::uint64_t BitplaneSums::*moment = nullptr;
    std::size_t mask = 0;  // when it is not a moment
    int power = 0;         // its sum counts 2^power times
    // Of a set apart, ascending: which eight bytes [8 w, 8 w + 8) hold a pixel. Few do where the set is of bad pixels.
    std::vector<std::size_t> words{};
  };

  BitplaneMasks() = default;
  static std::optional<Bits> bits_of(const std::vector<bool>& pixels);
  void add_set(const std::vector<bool>& pixels, std::uint64_t BitplaneSums::*moment, std::size_t mask, int power);
  void sum_apart(const BitplaneKernels& kernels, const BitPlanes& block, const Bits& set,
                 BitplaneSums::Apart& sums) const;
  [[nodiscard]] bool has_sentinel(const BitPlanes& block) const;
  /// From the first to the last pixel of all sets.
  [[nodiscard]] ElementRange touched() const;

  Index rows_ = 0, cols_ = 0;
  std::size_t element_bytes_ = 0, masks_ = 0;
  std::optional<std::uint64_t> sentinel_;
  std::vector<std::byte> good_;
  std::vector<Bits> sets_, apart_;
};

}  // namespace sonde::stem
