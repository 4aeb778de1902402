// SPDX-License-Identifier: Apache-2.0
// 64 groups at a time. GF2P8AFFINEQB multiplies eight 8x8 bit matrices by eight bytes; with the unit matrix as the
// bytes it transposes them: bit i of result byte j is bit j of matrix byte 7 - i. Feeding the planes in reverse order
// makes that bit j of plane i.
#include <immintrin.h>

#include "sonde/engine/io/codec/bitshuffle_kernels.h"
#include "sonde/engine/io/codec/bitshuffle_strips.h"

namespace sonde {
namespace {

constexpr std::size_t strip_groups = 64;

__m512i load(const std::byte* from) { return _mm512_loadu_si512(from); }
void store(std::byte* to, __m512i bytes) { _mm512_storeu_si512(to, bytes); }

// Unpacking works inside 128-bit lanes. Planes are therefore loaded in an order that makes the results come out in
// sequence: byte b of lane l is byte 8 (b / 2) + 2 l + b % 2 of the plane (elements of one byte), or
// 8 (b / 2) + l + 4 (b % 2) (elements that are interleaved with other bytes afterwards).
struct LoadOrder {
  alignas(64) unsigned char at[64];
};
constexpr LoadOrder load_order(int lane_step, int odd_step) {
  LoadOrder order = {};
  for (int lane = 0; lane < 4; ++lane)
    for (int b = 0; b < 16; ++b)
      order.at[16 * lane + b] = static_cast<unsigned char>(8 * (b / 2) + lane_step * lane + odd_step * (b % 2));
  return order;
}
constexpr LoadOrder bytes_order = load_order(2, 1), interleaved_order = load_order(1, 4);

// at[q] holds the bytes of groups 8 q ... 8 q + 7, in the order that was asked for.
struct Turned {
  __m512i at[8];
};

Turned turn(const std::byte* planes, std::size_t stride, const LoadOrder& load_order) {
  const __m512i order = _mm512_load_si512(load_order.at);
  const __m512i unit = _mm512_set1_epi64(static_cast<long long>(0x8040201008040201));
  __m512i a[8], b[8];
  for (std::size_t p = 0; p < 8; ++p) a[7 - p] = _mm512_permutexvar_epi8(order, load(planes + p * stride));
  for (std::size_t i = 0; i < 4; ++i) {
    b[i] = _mm512_unpacklo_epi8(a[2 * i], a[2 * i + 1]);
    b[4 + i] = _mm512_unpackhi_epi8(a[2 * i], a[2 * i + 1]);
  }
  for (std::size_t half = 0; half < 8; half += 4)
    for (std::size_t i = 0; i < 2; ++i) {
      a[half + i] = _mm512_unpacklo_epi16(b[half + 2 * i], b[half + 2 * i + 1]);
      a[half + 2 + i] = _mm512_unpackhi_epi16(b[half + 2 * i], b[half + 2 * i + 1]);
    }
  Turned turned;
  for (std::size_t i = 0; i < 4; ++i) {
    turned.at[2 * i] = _mm512_gf2p8affine_epi64_epi8(unit, _mm512_unpacklo_epi32(a[2 * i], a[2 * i + 1]), 0);
    turned.at[2 * i + 1] = _mm512_gf2p8affine_epi64_epi8(unit, _mm512_unpackhi_epi32(a[2 * i], a[2 * i + 1]), 0);
  }
  return turned;
}

void bytes_from_planes(const std::byte* planes, std::size_t stride, std::size_t groups, std::byte* bytes) {
  for_strips<strip_groups, 8, 8>(planes, stride, groups, bytes,
                                 [](const std::byte* from, std::size_t apart, std::byte* to) {
                                   const Turned turned = turn(from, apart, bytes_order);
                                   for (std::size_t q = 0; q < 8; ++q) store(to + 64 * q, turned.at[q]);
                                 });
}

template <std::size_t live_bytes>
void u16_strip(const std::byte* planes, std::size_t stride, std::byte* out) {
  const Turned low = turn(planes, stride, interleaved_order);
  Turned high = {};
  if constexpr (live_bytes > 1) high = turn(planes + 8 * stride, stride, interleaved_order);
  for (std::size_t q = 0; q < 8; ++q) {
    store(out + 128 * q, _mm512_unpacklo_epi8(low.at[q], high.at[q]));
    store(out + 128 * q + 64, _mm512_unpackhi_epi8(low.at[q], high.at[q]));
  }
}

template <std::size_t live_bytes>
void u32_strip(const std::byte* planes, std::size_t stride, std::byte* out) {
  const __m512i first_pairs = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
  const __m512i last_pairs = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
  Turned byte[4] = {};
  for (std::size_t k = 0; k < live_bytes; ++k) byte[k] = turn(planes + 8 * k * stride, stride, interleaved_order);
  for (std::size_t q = 0; q < 8; ++q)
    for (std::size_t odd = 0; odd < 2; ++odd) {
      const auto joined = [&](std::size_t k) {
        return odd == 0 ? _mm512_unpacklo_epi8(byte[k].at[q], byte[k + 1].at[q])
                        : _mm512_unpackhi_epi8(byte[k].at[q], byte[k + 1].at[q]);
      };
      // Elements 0-3 and 4-7 of groups 8 q + 4 odd + lane.
      const __m512i a = _mm512_unpacklo_epi16(joined(0), joined(2));
      const __m512i b = _mm512_unpackhi_epi16(joined(0), joined(2));
      store(out + 256 * q + 128 * odd, _mm512_permutex2var_epi64(a, first_pairs, b));
      store(out + 256 * q + 128 * odd + 64, _mm512_permutex2var_epi64(a, last_pairs, b));
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
  for (; done + 8 <= groups; done += 8) {
    __m512i elements = load(bytes + 8 * done);
    for (std::size_t p = 8; p-- > 0;) {  // the top bit of every byte is a plane; doubling brings up the next
      const __mmask64 plane = _mm512_movepi8_mask(elements);
      std::memcpy(planes + p * stride + done, &plane, 8);
      elements = _mm512_add_epi8(elements, elements);
    }
  }
  if (done < groups)
    bitshuffle_kernels_portable().planes_from_bytes(bytes + 8 * done, groups - done, stride, planes + done);
}

bool all_zero(const std::byte* bytes, std::size_t count) {
  std::size_t i = 0;
  for (; i + 64 <= count; i += 64) {
    const __m512i any = load(bytes + i);
    if (_mm512_test_epi8_mask(any, any) != 0) return false;
  }
  if (i == count) return true;
  const __m512i rest = _mm512_maskz_loadu_epi8((__mmask64{1} << (count - i)) - 1, bytes + i);
  return _mm512_test_epi8_mask(rest, rest) == 0;
}

}  // namespace

const BitshuffleKernels& bitshuffle_kernels_avx512() {
  static constexpr BitshuffleKernels kernels = {
      "avx512",        bytes_from_planes, planes_from_bytes,          u16_from_planes,
      u32_from_planes, all_zero,          decompress_lz4_block_avx512};
  return kernels;
}

}  // namespace sonde
