// SPDX-License-Identifier: Apache-2.0
// The plain loops of the pass over one frame, compiled for three x86-64 levels.
#pragma once

#include <cstdint>

#include "sonde/engine/base/index.h"

namespace sonde::stem::cpu {

/// Sums of one frame: T, Mr, Mc of layout/resident.h.
template <class Sum>
struct FrameSums {
  Sum total = 0, moment_row = 0, moment_col = 0;
};

/// The type in which sums over frames of T are exact: u64 for counts, f64 for floats.
template <class T>
struct SumOf {
  using type = std::uint64_t;
};
template <>
struct SumOf<float> {
  using type = double;
};
template <>
struct SumOf<double> {
  using type = double;
};
template <class T>
using sum_of = typename SumOf<T>::type;

/// Loops on frames of T: u8, u16, u32 (stored counts), u64 (sums of bins), f32, f64. `n` elements; nothing overlaps.
template <class T>
struct FrameKernels {
  /// Sets elements equal to `sentinel` to zero (for floats those that are not finite), counts them, and counts them per
  /// pixel.
  Index (*clear_sentinels)(T* frame, Index n, T sentinel, std::uint32_t* per_pixel);
  Index (*count_above)(const T* frame, Index n, T limit);
  /// The largest element, at least 0.
  T (*largest)(const T* frame, Index n);
  /// Adds `frames` (any number of them, `n` apart), none above `most`, to sum, largest and nonzero. Floats are added
  /// one after the other, so that it does not matter how many are given together.
  void (*add_statistics)(const T* frames, int count, Index n, T most, sum_of<T>* sum, T* largest,
                         std::uint32_t* nonzero);
  /// Adds frames only to sum.
  void (*add_sum)(const T* frames, int count, Index n, sum_of<T>* sum);
  /// No element is above `most`: small values are summed in narrow lanes. `column_sums` is scratch of `cols` elements.
  FrameSums<sum_of<T>> (*moments)(const T* frame, Index rows, Index cols, T most, sum_of<T>* column_sums);
  /// Adds every pixel to its bin of the `out_cols` wide sums; pixels beyond the last bin are left out. Returns the
  /// largest of all pixels.
  T(*bin_add_u32)
  (const T* frame, Index rows, Index cols, Index bin, Index out_rows, Index out_cols, std::uint32_t* sums);
  T (*bin_add_wide)(const T* frame, Index rows, Index cols, Index bin, Index out_rows, Index out_cols, sum_of<T>* sums);
  /// Converts; values beyond the target's maximum are set to it. Returns the largest value before conversion.
  T (*store_u8)(const T* frame, Index n, std::uint8_t* to);
  T (*store_u16)(const T* frame, Index n, std::uint16_t* to);
  T (*store_u32)(const T* frame, Index n, std::uint32_t* to);
  T (*store_f32)(const T* frame, Index n, float* to);
};

/// The best version for this machine's flags; `level` 0 (baseline), 1 (AVX2) or 2 (AVX-512) forces one, for tests.
template <class T>
[[nodiscard]] const FrameKernels<T>& frame_kernels(int level = -1);
/// The highest level this machine runs.
[[nodiscard]] int frame_kernel_level();

}  // namespace sonde::stem::cpu
