// SPDX-License-Identifier: Apache-2.0
// Private: what the codec does to one block, once per instruction set. A block of n elements of E bytes is 8 E
// planes of n / 8 bytes; a group is the eight elements that share one byte of every plane.
#pragma once

#include <cstddef>
#include <vector>

#include "sonde/engine/io/codec/lz4_block.h"

namespace sonde {

struct BitshuffleKernels {
  const char* name;

  /// Eight planes that lie `stride` bytes apart, `groups` bytes of each, to 8 * groups bytes; and the way back.
  void (*bytes_from_planes)(const std::byte* planes, std::size_t stride, std::size_t groups, std::byte* bytes);
  void (*planes_from_bytes)(const std::byte* bytes, std::size_t groups, std::size_t stride, std::byte* planes);

  /// Whole blocks of 16-bit and 32-bit elements. The planes of byte `live_bytes` and above are known to be zero and not
  /// read: live_bytes is 1 or 2 for 16 bits, 1, 2 or 4 for 32 bits.
  void (*u16_from_planes)(const std::byte* planes, std::size_t groups, std::size_t live_bytes, std::byte* elements);
  void (*u32_from_planes)(const std::byte* planes, std::size_t groups, std::size_t live_bytes, std::byte* elements);

  bool (*all_zero)(const std::byte* bytes, std::size_t count);

  DecompressLz4* decompress_lz4;
};

const BitshuffleKernels& bitshuffle_kernels_portable();
#ifdef SONDE_BITSHUFFLE_X86
const BitshuffleKernels& bitshuffle_kernels_avx2();
const BitshuffleKernels& bitshuffle_kernels_avx512();
#endif

/// The fastest one that this processor runs.
const BitshuffleKernels& best_bitshuffle_kernels();
/// All that this processor runs, slowest first.
std::vector<const BitshuffleKernels*> usable_bitshuffle_kernels();

/// Elements of any size, by the byte kernels of a table: `elements` is a multiple of 8. Planes in the runs of zeros are
/// not looked at.
void elements_from_planes(const BitshuffleKernels& kernels, const std::byte* planes, std::size_t elements,
                          std::size_t element_bytes, std::byte* out, const ZeroRuns& zeros = {});
void planes_from_elements(const BitshuffleKernels& kernels, const std::byte* in, std::size_t elements,
                          std::size_t element_bytes, std::byte* planes);

}  // namespace sonde
