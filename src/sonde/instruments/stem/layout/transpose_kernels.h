// SPDX-License-Identifier: Apache-2.0
// Private: the tile transposition once per instruction set, and the whole-array operations per device.
#pragma once

#include <cstddef>
#include <vector>

#include "sonde/engine/array/view.h"
#include "sonde/engine/device/stream.h"

namespace sonde::stem {

inline constexpr Index line_bytes = 64;

/// Transposes one line's worth of rows: `line_bytes / out_bytes` rows of `cols` elements (a multiple of that number) to
/// `cols` lines of 64 bytes that lie `out_stride` bytes apart; rows lie `in_stride` bytes apart. With `bypass` the
/// lines are aligned and leave past the caches.
using TransposeLines = void (*)(const std::byte* in, Index in_stride, Index cols, std::byte* out, Index out_stride,
                                bool bypass);

struct TransposeKernels {
  const char* name;
  TransposeLines u8, u16, u32;                      ///< same size on both sides (u32 serves f32)
  TransposeLines u16_to_u8, u32_to_u8, u32_to_u16;  ///< the low bytes
};

const TransposeKernels& transpose_kernels_plain();
#ifdef SONDE_TRANSPOSE_X86
const TransposeKernels& transpose_kernels_avx2();
const TransposeKernels& transpose_kernels_avx512();
#endif
/// The fastest one that this processor runs; all of them, slowest first.
const TransposeKernels& best_transpose_kernels();
std::vector<const TransposeKernels*> usable_transpose_kernels();

/// place_frames with given kernels.
template <class In, class Out>
void place_rows(const TransposeKernels& kernels, View<const In, 2> rows, View<Out, 2> out, Index first_col);

namespace cpu {
/// out(c, r) = in(r, c), both dense in their last dimension.
template <class In, class Out>
void transpose(View<const In, 2> in, View<Out, 2> out);
/// planes(row * cols + col, position) = frames(position, row, col), any strides.
template <class In, class Out>
void transpose_strided(View<const In, 3> frames, View<Out, 2> planes);
}  // namespace cpu

namespace cuda {
template <class In, class Out>
void transpose(Stream& stream, View<const In, 2> in, View<Out, 2> out);
template <class In, class Out>
void transpose_strided(Stream& stream, View<const In, 3> frames, View<Out, 2> planes);
}  // namespace cuda

}  // namespace sonde::stem
