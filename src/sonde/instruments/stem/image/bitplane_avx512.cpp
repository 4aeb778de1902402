// SPDX-License-Identifier: Apache-2.0
// Compiled for AVX-512 with VPOPCNTDQ and called only where the processor has it.
#include <immintrin.h>

#include "sonde/instruments/stem/image/bitplane_kernels.h"

namespace sonde::stem {
namespace {

std::uint64_t popcount_and(const std::byte* a, const std::byte* b, std::size_t count) {
  __m512i bits = _mm512_setzero_si512();
  std::size_t i = 0;
  for (; i + 64 <= count; i += 64)
    bits = _mm512_add_epi64(
        bits, _mm512_popcnt_epi64(_mm512_and_si512(_mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i))));
  if (i < count) {
    const __mmask64 rest = ~0ull >> (64 - (count - i));
    bits = _mm512_add_epi64(bits, _mm512_popcnt_epi64(_mm512_and_si512(_mm512_maskz_loadu_epi8(rest, a + i),
                                                                       _mm512_maskz_loadu_epi8(rest, b + i))));
  }
  alignas(64) std::uint64_t lanes[8];
  _mm512_store_si512(lanes, bits);
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

}  // namespace

const BitplaneKernels& bitplane_kernels_avx512() {
  static constexpr BitplaneKernels kernels = {"AVX-512", popcount_and};
  return kernels;
}

}  // namespace sonde::stem
