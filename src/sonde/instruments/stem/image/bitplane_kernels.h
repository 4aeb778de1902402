// SPDX-License-Identifier: Apache-2.0
// Private: counting bits, once per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde::stem {

struct BitplaneKernels {
  const char* name;
  /// Sum over the planes p of `nonzero` of 2^p times the set bits of (planes + p stride) AND set, `count` bytes of
  /// each, not aligned. One call per block and set: a call per plane costs more than its count (512 bytes each).
  std::uint64_t (*sum_planes)(const std::byte* planes, std::size_t stride, std::uint64_t nonzero, const std::byte* set,
                              std::size_t count);
};

const BitplaneKernels& bitplane_kernels_plain();
#ifdef SONDE_BITPLANE_X86
const BitplaneKernels& bitplane_kernels_avx2();
const BitplaneKernels& bitplane_kernels_avx512();
#endif
/// The fastest one that this processor runs; all of them, slowest first.
const BitplaneKernels& best_bitplane_kernels();
std::vector<const BitplaneKernels*> usable_bitplane_kernels();

}  // namespace sonde::stem
