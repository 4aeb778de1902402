// SPDX-License-Identifier: Apache-2.0
// 32 groups at a time: bytes of the eight planes are brought together by unpacking, then four 8x8 bit matrices turn in
// one register by the swap network of the portable version.
#include <immintrin.h>

#include "sonde/engine/io/codec/bitshuffle_kernels.h"
#include "sonde/engine/io/codec/bitshuffle_strips.h"

namespace sonde {
namespace {

constexpr std::size_t strip_groups = 32;

__m256i load(const std::byte* from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)); }
void store(std::byte* to, __m256i bytes) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), bytes); }

template <int shift>
__m256i swap_bits(__m256i matrices, long long mask) {
  const __m256i swap =
      _mm256_and_si256(_mm256_xor_si256(matrices, _mm256_srli_epi64(matrices, shift)), _mm256_set1_epi64x(mask));
  return _mm256_xor_si256(matrices, _mm256_xor_si256(swap, _mm256_slli_epi64(swap, shift)));
}

__m256i transpose(__m256i matrices) {
  matrices = swap_bits<7>(matrices, 0x00AA00AA00AA00AA);
  matrices = swap_bits<14>(matrices, 0x0000CCCC0000CCCC);
  return swap_bits<28>(matrices, 0x00000000F0F0F0F0);
}

// turned[q]: the eight bytes of groups 2 q and 2 q + 1 in the low half, of groups 16 + 2 q and 17 + 2 q in the high
// one.
struct Turned {
  __m256i at[8];
};

Turned turn(const std::byte* planes, std::size_t stride) {
  __m256i a[8], b[8];
  for (std::size_t p = 0; p < 8; ++p) a[p] = load(planes + p * stride);
  for (std::size_t i = 0; i < 4; ++i) {
    b[i] = _mm256_unpacklo_epi8(a[2 * i], a[2 * i + 1]);
    b[4 + i] = _mm256_unpackhi_epi8(a[2 * i], a[2 * i + 1]);
  }
  for (std::size_t half = 0; half < 8; half += 4)
    for (std::size_t i = 0; i < 2; ++i) {
      a[half + i] = _mm256_unpacklo_epi16(b[half + 2 * i], b[half + 2 * i + 1]);
      a[half + 2 + i] = _mm256_unpackhi_epi16(b[half + 2 * i], b[half + 2 * i + 1]);
    }
  Turned turned;
  for (std::size_t i = 0; i < 4; ++i) {
    turned.at[2 * i] = transpose(_mm256_unpacklo_epi32(a[2 * i], a[2 * i + 1]));
    turned.at[2 * i + 1] = transpose(_mm256_unpackhi_epi32(a[2 * i], a[2 * i + 1]));
  }
  return turned;
}

void bytes_from_planes(const std::byte* planes, std::size_t stride, std::size_t groups, std::byte* bytes) {
  for_strips<strip_groups, 8, 8>(planes, stride, groups, bytes,
                                 [](const std::byte* from, std::size_t apart, std::byte* to) {
                                   const Turned turned = turn(from, apart);
                                   for (std::size_t q = 0; q < 8; q += 2) {
                                     const __m256i a = turned.at[q], b = turned.at[q + 1];
                                     store(to + 16 * q, _mm256_permute2x128_si256(a, b, 0x20));
                                     store(to + 128 + 16 * q, _mm256_permute2x128_si256(a, b, 0x31));
                                   }
                                 });
}

template <std::size_t live_bytes>
void u16_strip(const std::byte* planes, std::size_t stride, std::byte* out) {
  const Turned low = turn(planes, stride);
  Turned high = {};
  if constexpr (live_bytes > 1) high = turn(planes + 8 * stride, stride);
  for (std::size_t q = 0; q < 8; ++q) {
    const __m256i a = _mm256_unpacklo_epi8(low.at[q], high.at[q]);
    const __m256i b = _mm256_unpackhi_epi8(low.at[q], high.at[q]);
    store(out + 32 * q, _mm256_permute2x128_si256(a, b, 0x20));
    store(out + 256 + 32 * q, _mm256_permute2x128_si256(a, b, 0x31));
  }
}

template <std::size_t live_bytes>
void u32_strip(const std::byte* planes, std::size_t stride, std::byte* out) {
  Turned byte[4] = {};
  for (std::size_t k = 0; k < live_bytes; ++k) byte[k] = turn(planes + 8 * k * stride, stride);
  for (std::size_t q = 0; q < 8; ++q)
    for (std::size_t odd = 0; odd < 2; ++odd) {
      const auto joined = [&](std::size_t k) {
        return odd == 0 ? _mm256_unpacklo_epi8(byte[k].at[q], byte[k + 1].at[q])
                        : _mm256_unpackhi_epi8(byte[k].at[q], byte[k + 1].at[q]);
      };
      const __m256i a = _mm256_unpacklo_epi16(joined(0), joined(2));
      const __m256i b = _mm256_unpackhi_epi16(joined(0), joined(2));
      store(out + 32 * (2 * q + odd), _mm256_permute2x128_si256(a, b, 0x20));
      store(out + 32 * (16 + 2 * q + odd), _mm256_permute2x128_si256(a, b, 0x31));
    }
}

void u16_from_planes(const std::byte* planes, std::size_t groups, std::size_t live_bytes, std::byte* elements) {
  if (live_bytes == 1)
    return for_strips<strip_groups, 8, 16>(planes, groups, groups, elements,
                                           [](auto... strip) { u16_strip<1>(strip...); });
  for_strips<strip_groups, 16, 16>(planes, groups, groups, elements, [](auto... strip) { u16_strip<2>(strip...); });
}

void u32_from_planes(const std::byte* planes, std::size_t groups, std::size_t live_bytes, std::byte* elements) {
  if (live_bytes == 1)
    return for_strips<strip_groups, 8, 32>(planes, groups, groups, elements,
                                           [](auto... strip) { u32_strip<1>(strip...); });
  if (live_bytes == 2)
    return for_strips<strip_groups, 16, 32>(planes, groups, groups, elements,
                                            [](auto... strip) { u32_strip<2>(strip...); });
  for_strips<strip_groups, 32, 32>(planes, groups, groups, elements, [](auto... strip) { u32_strip<4>(strip...); });
}

void planes_from_bytes(const std::byte* bytes, std::size_t groups, std::size_t stride, std::byte* planes) {
  std::size_t done = 0;
  for (; done + 4 <= groups; done += 4) {
    __m256i elements = load(bytes + 8 * done);
    for (std::size_t p = 8; p-- > 0;) {  // the top bit of every byte is a plane; doubling brings up the next
      const int plane = _mm256_movemask_epi8(elements);
      std::memcpy(planes + p * stride + done, &plane, 4);
      elements = _mm256_add_epi8(elements, elements);
    }
  }
  if (done < groups)
    bitshuffle_kernels_portable().planes_from_bytes(bytes + 8 * done, groups - done, stride, planes + done);
}

bool all_zero(const std::byte* bytes, std::size_t count) {
  std::size_t i = 0;
  for (; i + 64 <= count; i += 64) {
    const __m256i any = _mm256_or_si256(load(bytes + i), load(bytes + i + 32));
    if (_mm256_testz_si256(any, any) == 0) return false;
  }
  return bitshuffle_kernels_portable().all_zero(bytes + i, count - i);
}

}  // namespace

const BitshuffleKernels& bitshuffle_kernels_avx2() {
  static constexpr BitshuffleKernels kernels = {
      "avx2", bytes_from_planes, planes_from_bytes, u16_from_planes, u32_from_planes, all_zero, decompress_lz4_block};
  return kernels;
}

}  // namespace sonde
