// SPDX-License-Identifier: Apache-2.0
// Compiled for AVX-512 with VPOPCNTDQ and called only where the processor has it.
#include <immintrin.h>

#include <bit>

#include "sonde/instruments/stem/image/bitplane_kernels.h"

namespace sonde::stem {
namespace {

std::uint64_t sum_planes(const std::byte* planes, std::size_t stride, std::uint64_t nonzero, const std::byte* set,
                         std::size_t count) {
  const std::size_t whole = count & ~std::size_t{63};
  const __mmask64 rest = count > whole ? ~0ull >> (64 - (count - whole)) : 0;
  __m512i sum = _mm512_setzero_si512();
  for (std::uint64_t left = nonzero; left != 0; left &= left - 1) {
    const int p = std::countr_zero(left);
    const std::byte* plane = planes + static_cast<std::size_t>(p) * stride;
    __m512i bits = _mm512_setzero_si512();
    for (std::size_t i = 0; i < whole; i += 64)
      bits = _mm512_add_epi64(
          bits, _mm512_popcnt_epi64(_mm512_and_si512(_mm512_loadu_si512(plane + i), _mm512_loadu_si512(set + i))));
    if (rest != 0)
      bits = _mm512_add_epi64(bits, _mm512_popcnt_epi64(_mm512_and_si512(_mm512_maskz_loadu_epi8(rest, plane + whole),
                                                                         _mm512_maskz_loadu_epi8(rest, set + whole))));
    // With a mask of all lanes: without one g++ 12 warns of a value that is not set (GCC bug 105593).
    sum = _mm512_add_epi64(sum, _mm512_maskz_sll_epi64(0xFF, bits, _mm_cvtsi32_si128(p)));
  }
  alignas(64) std::uint64_t lanes[8];
  _mm512_store_si512(lanes, sum);
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

}  // namespace

const BitplaneKernels& bitplane_kernels_avx512() {
  static constexpr BitplaneKernels kernels = {"AVX-512", sum_planes};
  return kernels;
}

}  // namespace sonde::stem
