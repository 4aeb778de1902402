// SPDX-License-Identifier: Apache-2.0
// Compiled for AVX2 and called only where the processor has it. The scheme of transpose_avx512.cpp with half as many
// columns per tile; a line of 64 bytes is two registers.
// No function of another header is instantiated here: the linker could keep the version that needs AVX2.
#include <immintrin.h>

#include "sonde/instruments/stem/layout/transpose_kernels.h"

namespace sonde::stem {
namespace {

inline __m256i load(const std::byte* from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)); }

/// Packing saturates, which is as good as any answer for values that do not fit.
template <int In, int Out>
inline __m256i load_row(const std::byte* from) {
  const __m256i a = load(from);
  if constexpr (In == Out) {
    return a;
  } else if constexpr (In == 2 * Out) {
    const __m256i b = load(from + 32);
    return _mm256_permute4x64_epi64(Out == 2 ? _mm256_packus_epi32(a, b) : _mm256_packus_epi16(a, b), 0xD8);
  } else {
    const __m256i low = _mm256_packus_epi32(a, load(from + 32));
    const __m256i high = _mm256_packus_epi32(load(from + 64), load(from + 96));
    return _mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high), _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  }
}

/// Weaves 8 / Out rows: afterwards the 64-bit unit h of lane l of v[k] holds these rows of column 16 / Out * l + 2 k +
/// h.
template <int Out>
inline void weave(__m256i v[]) {
  if constexpr (Out == 1) {
    __m256i t[8], u[8];
    for (int i = 0; i < 4; ++i) {
      t[2 * i] = _mm256_unpacklo_epi8(v[2 * i], v[2 * i + 1]);
      t[2 * i + 1] = _mm256_unpackhi_epi8(v[2 * i], v[2 * i + 1]);
    }
    for (int i = 0; i < 2; ++i) {
      u[4 * i] = _mm256_unpacklo_epi16(t[4 * i], t[4 * i + 2]);
      u[4 * i + 1] = _mm256_unpackhi_epi16(t[4 * i], t[4 * i + 2]);
      u[4 * i + 2] = _mm256_unpacklo_epi16(t[4 * i + 1], t[4 * i + 3]);
      u[4 * i + 3] = _mm256_unpackhi_epi16(t[4 * i + 1], t[4 * i + 3]);
    }
    for (int i = 0; i < 4; ++i) {
      v[2 * i] = _mm256_unpacklo_epi32(u[i], u[i + 4]);
      v[2 * i + 1] = _mm256_unpackhi_epi32(u[i], u[i + 4]);
    }
  } else if constexpr (Out == 2) {
    const __m256i low01 = _mm256_unpacklo_epi16(v[0], v[1]), high01 = _mm256_unpackhi_epi16(v[0], v[1]);
    const __m256i low23 = _mm256_unpacklo_epi16(v[2], v[3]), high23 = _mm256_unpackhi_epi16(v[2], v[3]);
    v[0] = _mm256_unpacklo_epi32(low01, low23);
    v[1] = _mm256_unpackhi_epi32(low01, low23);
    v[2] = _mm256_unpacklo_epi32(high01, high23);
    v[3] = _mm256_unpackhi_epi32(high01, high23);
  } else {
    const __m256i low = _mm256_unpacklo_epi32(v[0], v[1]), high = _mm256_unpackhi_epi32(v[0], v[1]);
    v[0] = low;
    v[1] = high;
  }
}

inline void store(std::byte* to, __m256i first_half, __m256i second_half, bool bypass) {
  auto* line = reinterpret_cast<__m256i*>(to);
  if (bypass) {
    _mm256_stream_si256(line, first_half);
    _mm256_stream_si256(line + 1, second_half);
  } else {
    _mm256_storeu_si256(line, first_half);
    _mm256_storeu_si256(line + 1, second_half);
  }
}

template <int In, int Out>
void lines(const std::byte* in, Index in_stride, Index cols, std::byte* out, Index out_stride, bool bypass) {
  constexpr int units = 8 / Out;     // rows in a group, and registers that hold its columns
  constexpr Index width = 32 / Out;  // columns in a tile
  alignas(32) __m256i woven[units][8];
  for (Index col = 0; col < cols; col += width) {
    for (int group = 0; group < 8; ++group) {
      __m256i v[units];
      for (int i = 0; i < units; ++i) v[i] = load_row<In, Out>(in + (group * units + i) * in_stride + col * In);
      weave<Out>(v);
      for (int k = 0; k < units; ++k) woven[k][group] = v[k];
    }
    for (int k = 0; k < units; ++k) {
      const __m256i* g = woven[k];
      for (int h = 0; h < 2; ++h) {
        __m256i x[4];
        for (int i = 0; i < 4; ++i)
          x[i] = h == 0 ? _mm256_unpacklo_epi64(g[2 * i], g[2 * i + 1]) : _mm256_unpackhi_epi64(g[2 * i], g[2 * i + 1]);
        std::byte* to = out + (col + 2 * k + h) * out_stride;
        store(to, _mm256_permute2x128_si256(x[0], x[1], 0x20), _mm256_permute2x128_si256(x[2], x[3], 0x20), bypass);
        store(to + 16 / Out * out_stride, _mm256_permute2x128_si256(x[0], x[1], 0x31),
              _mm256_permute2x128_si256(x[2], x[3], 0x31), bypass);
      }
    }
  }
  if (bypass) _mm_sfence();
}

}  // namespace

const TransposeKernels& transpose_kernels_avx2() {
  static constexpr TransposeKernels kernels = {"AVX2",      lines<1, 1>, lines<2, 2>, lines<4, 4>,
                                               lines<2, 1>, lines<4, 1>, lines<4, 2>};
  return kernels;
}

}  // namespace sonde::stem
