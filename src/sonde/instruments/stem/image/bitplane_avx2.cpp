// SPDX-License-Identifier: Apache-2.0
// Compiled for AVX2 and called only where the processor has it. Bits are counted by a table of 16 entries, one look-up
// per half byte, and the counts of bytes added by a sum of absolute differences from zero.
#include <immintrin.h>

#include <bit>

#include "sonde/instruments/stem/image/bitplane_kernels.h"

namespace sonde::stem {
namespace {

inline __m256i load(const std::byte* from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)); }

std::uint64_t sum_planes(const std::byte* planes, std::size_t stride, std::uint64_t nonzero, const std::byte* set,
                         std::size_t count) {
  const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,  //
                                         0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
  const __m256i low = _mm256_set1_epi8(15);
  const std::size_t whole = count & ~std::size_t{31};
  __m256i sum = _mm256_setzero_si256();
  for (std::uint64_t left = nonzero; left != 0; left &= left - 1) {
    const int p = std::countr_zero(left);
    const std::byte* plane = planes + static_cast<std::size_t>(p) * stride;
    __m256i bits = _mm256_setzero_si256();
    for (std::size_t i = 0; i < whole; i += 32) {
      const __m256i both = _mm256_and_si256(load(plane + i), load(set + i));
      const __m256i lows = _mm256_shuffle_epi8(table, _mm256_and_si256(both, low));
      const __m256i highs = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(both, 4), low));
      bits = _mm256_add_epi64(bits, _mm256_sad_epu8(_mm256_add_epi8(lows, highs), _mm256_setzero_si256()));
    }
    sum = _mm256_add_epi64(sum, _mm256_sll_epi64(bits, _mm_cvtsi32_si128(p)));
  }
  alignas(32) std::uint64_t lanes[4];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), sum);
  const std::uint64_t rest =
      whole == count ? 0
                     : bitplane_kernels_plain().sum_planes(planes + whole, stride, nonzero, set + whole, count - whole);
  return lanes[0] + lanes[1] + lanes[2] + lanes[3] + rest;
}

}  // namespace

const BitplaneKernels& bitplane_kernels_avx2() {
  static constexpr BitplaneKernels kernels = {"AVX2", sum_planes};
  return kernels;
}

}  // namespace sonde::stem
