// SPDX-License-Identifier: Apache-2.0
// Compiled for AVX-512 with VBMI and called only where the processor has it. A tile is 64 lines of 64 bytes: groups of
// rows are woven into 8-byte units by unpacking, then the 8 by 8 units of each register set are transposed.
// No function of another header is instantiated here: the linker could keep the version that needs AVX-512.
#include <immintrin.h>

#include <cstdint>

#include "sonde/instruments/stem/layout/transpose_kernels.h"

namespace sonde::stem {
namespace {

/// The places of every second element of two registers.
template <int Out>
struct alignas(64) Places {
  std::uint8_t bytes[64] = {};
  constexpr Places() {
    for (int i = 0; i < 64 / Out; ++i) bytes[i * Out] = static_cast<std::uint8_t>(2 * i);  // little-endian
  }
};
template <int Out>
constexpr Places<Out> lower_halves;

template <int In, int Out>
inline __m512i load_row(const std::byte* from) {
  const __m512i a = _mm512_loadu_si512(from);
  if constexpr (In == Out) {
    return a;
  } else if constexpr (In == 2 * Out) {
    // One shuffle of two registers takes the lower halves; converting and joining them would take four operations.
    const __m512i b = _mm512_loadu_si512(from + 64);
    const __m512i halves = _mm512_load_si512(&lower_halves<Out>);
    return Out == 2 ? _mm512_permutex2var_epi16(a, halves, b) : _mm512_permutex2var_epi8(a, halves, b);
  } else {
    __m512i row = _mm512_castsi128_si512(_mm512_cvtepi32_epi8(a));
    row = _mm512_inserti32x4(row, _mm512_cvtepi32_epi8(_mm512_loadu_si512(from + 64)), 1);
    row = _mm512_inserti32x4(row, _mm512_cvtepi32_epi8(_mm512_loadu_si512(from + 128)), 2);
    return _mm512_inserti32x4(row, _mm512_cvtepi32_epi8(_mm512_loadu_si512(from + 192)), 3);
  }
}

/// Weaves 8 / Out rows: afterwards the 64-bit unit h of lane l of v[k] holds these rows of column 16 / Out * l + 2 k +
/// h.
template <int Out>
inline void weave(__m512i v[]) {
  if constexpr (Out == 1) {
    __m512i t[8], u[8];
    for (int i = 0; i < 4; ++i) {
      t[2 * i] = _mm512_unpacklo_epi8(v[2 * i], v[2 * i + 1]);
      t[2 * i + 1] = _mm512_unpackhi_epi8(v[2 * i], v[2 * i + 1]);
    }
    for (int i = 0; i < 2; ++i) {
      u[4 * i] = _mm512_unpacklo_epi16(t[4 * i], t[4 * i + 2]);
      u[4 * i + 1] = _mm512_unpackhi_epi16(t[4 * i], t[4 * i + 2]);
      u[4 * i + 2] = _mm512_unpacklo_epi16(t[4 * i + 1], t[4 * i + 3]);
      u[4 * i + 3] = _mm512_unpackhi_epi16(t[4 * i + 1], t[4 * i + 3]);
    }
    for (int i = 0; i < 4; ++i) {
      v[2 * i] = _mm512_unpacklo_epi32(u[i], u[i + 4]);
      v[2 * i + 1] = _mm512_unpackhi_epi32(u[i], u[i + 4]);
    }
  } else if constexpr (Out == 2) {
    const __m512i low01 = _mm512_unpacklo_epi16(v[0], v[1]), high01 = _mm512_unpackhi_epi16(v[0], v[1]);
    const __m512i low23 = _mm512_unpacklo_epi16(v[2], v[3]), high23 = _mm512_unpackhi_epi16(v[2], v[3]);
    v[0] = _mm512_unpacklo_epi32(low01, low23);
    v[1] = _mm512_unpackhi_epi32(low01, low23);
    v[2] = _mm512_unpacklo_epi32(high01, high23);
    v[3] = _mm512_unpackhi_epi32(high01, high23);
  } else {
    const __m512i low = _mm512_unpacklo_epi32(v[0], v[1]), high = _mm512_unpackhi_epi32(v[0], v[1]);
    v[0] = low;
    v[1] = high;
  }
}

inline void store(std::byte* to, __m512i line, bool bypass) {
  if (bypass)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), line);
  else
    _mm512_storeu_si512(to, line);
}

template <int In, int Out>
void lines(const std::byte* in, Index in_stride, Index cols, std::byte* out, Index out_stride, bool bypass) {
  constexpr int units = 8 / Out;     // rows in a group, and registers that hold its columns
  constexpr Index width = 64 / Out;  // columns in a tile
  alignas(64) __m512i woven[units][8];
  for (Index col = 0; col < cols; col += width) {
    for (int group = 0; group < 8; ++group) {
      __m512i v[units];
      for (int i = 0; i < units; ++i) v[i] = load_row<In, Out>(in + (group * units + i) * in_stride + col * In);
      weave<Out>(v);
      for (int k = 0; k < units; ++k) woven[k][group] = v[k];
    }
    for (int k = 0; k < units; ++k) {
      const __m512i* g = woven[k];
      for (int h = 0; h < 2; ++h) {
        __m512i x[4];
        for (int i = 0; i < 4; ++i)
          x[i] = h == 0 ? _mm512_unpacklo_epi64(g[2 * i], g[2 * i + 1]) : _mm512_unpackhi_epi64(g[2 * i], g[2 * i + 1]);
        const __m512i low01 = _mm512_shuffle_i64x2(x[0], x[1], 0x44), high01 = _mm512_shuffle_i64x2(x[0], x[1], 0xEE);
        const __m512i low23 = _mm512_shuffle_i64x2(x[2], x[3], 0x44), high23 = _mm512_shuffle_i64x2(x[2], x[3], 0xEE);
        std::byte* to = out + (col + 2 * k + h) * out_stride;
        constexpr Index lane = 16 / Out;  // columns from one 128-bit lane to the next
        store(to, _mm512_shuffle_i64x2(low01, low23, 0x88), bypass);
        store(to + lane * out_stride, _mm512_shuffle_i64x2(low01, low23, 0xDD), bypass);
        store(to + 2 * lane * out_stride, _mm512_shuffle_i64x2(high01, high23, 0x88), bypass);
        store(to + 3 * lane * out_stride, _mm512_shuffle_i64x2(high01, high23, 0xDD), bypass);
      }
    }
  }
  if (bypass) _mm_sfence();
}

}  // namespace

const TransposeKernels& transpose_kernels_avx512() {
  static constexpr TransposeKernels kernels = {"AVX-512",   lines<1, 1>, lines<2, 2>, lines<4, 4>,
                                               lines<2, 1>, lines<4, 1>, lines<4, 2>};
  return kernels;
}

}  // namespace sonde::stem
