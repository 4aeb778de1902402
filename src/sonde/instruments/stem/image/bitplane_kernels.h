// SPDX-License-Identifier: Apache-2.0
// Private: counting bits, once per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde::stem {

struct BitplaneKernels {
  const char* name;
  /// Set bits of a AND b, `count` bytes of each, not aligned.
  std::uint64_t (*popcount_and)(const std::byte* a, const std::byte* b, std::size_t count);
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
