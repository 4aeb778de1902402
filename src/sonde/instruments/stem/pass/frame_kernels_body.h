// SPDX-License-Identifier: Apache-2.0
// Included once by each frame_kernels_<level>.cpp with SONDE_LEVEL set to a namespace name. Only plain loops and no
// standard library: an inline function shared with other files could be merged across instruction sets by the linker.
#include "sonde/instruments/stem/pass/frame_kernels.h"

namespace sonde::stem::cpu::SONDE_LEVEL {
namespace {

/// Whether T counts (floats do not).
template <class T>
constexpr bool is_count = T(0.5) == T(0);

template <class T>
inline bool is_sentinel(T value, T sentinel) {
  return value == sentinel;
}
template <>
inline bool is_sentinel(float value, float) {
  return value - value != 0;  // NaN and infinity: their difference with themselves is NaN
}
template <>
inline bool is_sentinel(double value, double) {
  return value - value != 0;
}

template <class T>
Index clear_sentinels(T* frame, Index n, T sentinel, std::uint32_t* per_pixel) {
  // Sentinels are rare: blocks without one cost one vectorised count.
  constexpr Index block = 128;
  Index found = 0;
  for (Index begin = 0; begin < n; begin += block) {
    const Index end = begin + block < n ? begin + block : n;
    std::uint32_t hits = 0;
    for (Index i = begin; i < end; ++i) hits += is_sentinel(frame[i], sentinel) ? 1u : 0u;
    if (hits == 0) continue;
    found += hits;
    for (Index i = begin; i < end; ++i)
      if (is_sentinel(frame[i], sentinel)) {
        frame[i] = 0;
        ++per_pixel[i];
      }
  }
  return found;
}

template <class T>
Index count_above(const T* frame, Index n, T limit) {
  Index count = 0;
  for (Index i = 0; i < n; ++i) count += frame[i] > limit ? 1 : 0;
  return count;
}

/// Sums of a few frames stay exact in this type: 32 bits for u8 and u16.
template <class T>
struct ShortSumOf {
  using type = sum_of<T>;
};
template <>
struct ShortSumOf<std::uint8_t> {
  using type = std::uint32_t;
};
template <>
struct ShortSumOf<std::uint16_t> {
  using type = std::uint32_t;
};

/// `Lane` holds the sum of Count elements: the narrower, the more of them one vector adds.
template <class T, class Lane, int Count>
void add_statistics_of(const T* __restrict__ frames, Index n, sum_of<T>* __restrict__ sum, T* __restrict__ largest,
                       std::uint32_t* __restrict__ nonzero) {
  for (Index i = 0; i < n; ++i) {
    Lane s = is_count<T> ? Lane(0) : static_cast<Lane>(sum[i]);
    T most = largest[i];
    T hits = 0;
    for (int k = 0; k < Count; ++k) {
      const T value = frames[k * n + i];
      s = static_cast<Lane>(s + static_cast<Lane>(value));
      most = value > most ? value : most;
      hits = static_cast<T>(hits + (value != 0 ? T(1) : T(0)));
    }
    sum[i] = is_count<T> ? sum[i] + s : static_cast<sum_of<T>>(s);
    largest[i] = most;
    nonzero[i] += static_cast<std::uint32_t>(hits);
  }
}

template <class T, int Count>
void add_statistics_in(const T* frames, Index n, T most, sum_of<T>* sum, T* largest, std::uint32_t* nonzero) {
  if constexpr (is_count<T> && (sizeof(T) == 2 || sizeof(T) == 4))
    if (most <= static_cast<T>(~T(0)) / Count) return add_statistics_of<T, T, Count>(frames, n, sum, largest, nonzero);
  add_statistics_of<T, typename ShortSumOf<T>::type, Count>(frames, n, sum, largest, nonzero);
}

template <class T>
void add_statistics(const T* frames, int count, Index n, T most, sum_of<T>* sum, T* largest, std::uint32_t* nonzero) {
  int k = 0;
  for (; k + 4 <= count; k += 4) add_statistics_in<T, 4>(frames + k * n, n, most, sum, largest, nonzero);
  for (; k < count; ++k) add_statistics_in<T, 1>(frames + k * n, n, most, sum, largest, nonzero);
}

template <class T, int Count>
void add_sum_of(const T* __restrict__ frames, Index n, sum_of<T>* __restrict__ sum) {
  for (Index i = 0; i < n; ++i) {
    typename ShortSumOf<T>::type s = is_count<T> ? 0 : static_cast<typename ShortSumOf<T>::type>(sum[i]);
    for (int k = 0; k < Count; ++k) s += frames[k * n + i];
    sum[i] = is_count<T> ? sum[i] + s : static_cast<sum_of<T>>(s);
  }
}

template <class T>
void add_sum(const T* frames, int count, Index n, sum_of<T>* sum) {
  int k = 0;
  for (; k + 4 <= count; k += 4) add_sum_of<T, 4>(frames + k * n, n, sum);
  for (; k < count; ++k) add_sum_of<T, 1>(frames + k * n, n, sum);
}

/// `Narrow` holds the sum of a row and of a column.
template <class T, class Narrow>
FrameSums<sum_of<T>> moments_in(const T* __restrict__ frame, Index rows, Index cols, Narrow* __restrict__ column_sums) {
  using Sum = sum_of<T>;
  FrameSums<Sum> sums;
  for (Index col = 0; col < cols; ++col) column_sums[col] = 0;
  for (Index row = 0; row < rows; ++row) {
    const T* __restrict__ line = frame + row * cols;
    Narrow row_sum = 0;
    for (Index col = 0; col < cols; ++col) {
      const Narrow value = static_cast<Narrow>(line[col]);
      row_sum = static_cast<Narrow>(row_sum + value);
      column_sums[col] = static_cast<Narrow>(column_sums[col] + value);
    }
    sums.total += row_sum;
    sums.moment_row += static_cast<Sum>(row) * static_cast<Sum>(row_sum);
  }
  for (Index col = 0; col < cols; ++col) sums.moment_col += static_cast<Sum>(col) * static_cast<Sum>(column_sums[col]);
  return sums;
}

template <class T>
FrameSums<sum_of<T>> moments(const T* frame, Index rows, Index cols, T most, sum_of<T>* column_sums) {
  if constexpr (is_count<T>) {
    const auto longest = static_cast<std::uint64_t>(rows > cols ? rows : cols);
    if (most <= 65535 / longest) return moments_in<T>(frame, rows, cols, reinterpret_cast<std::uint16_t*>(column_sums));
    if (most <= 0xffffffffu / longest)
      return moments_in<T>(frame, rows, cols, reinterpret_cast<std::uint32_t*>(column_sums));
  }
  return moments_in<T>(frame, rows, cols, column_sums);
}

template <class T>
T largest_of(const T* p, Index n) {
  T most = 0;
  for (Index i = 0; i < n; ++i) most = p[i] > most ? p[i] : most;
  return most;
}

/// p[0] + ... + p[count - 1].
template <class Sum, class T>
inline Sum run_sum(const T* p, Index count) {
  Sum s = 0;
  for (Index k = 0; k < count; ++k) s += static_cast<Sum>(p[k]);
  return s;
}
/// Two neighbours as one word and its halves: vectors need no shuffle for that. `count` is even.
inline std::uint32_t paired_sum(const std::uint16_t* p, Index count) {
  std::uint32_t s = 0;
  for (Index k = 0; k < count; k += 2) {
    std::uint32_t pair;
    __builtin_memcpy(&pair, p + k, sizeof pair);
    s += (pair & 0xffff) + (pair >> 16);
  }
  return s;
}

template <class T, class Sum, int Bin>
void bin_row(const T* __restrict__ line, Index cols, Index step, Index whole_cols, Index out_cols,
             Sum* __restrict__ to) {
  for (Index out = 0; out < whole_cols; ++out) {
    if constexpr (sizeof(T) == 2 && sizeof(Sum) == 4 && Bin > 0 && Bin % 2 == 0)
      to[out] += paired_sum(line + out * Bin, Bin);
    else
      to[out] += run_sum<Sum>(line + out * step, step);
  }
  for (Index col = whole_cols * step; whole_cols < out_cols && col < cols; ++col)
    to[whole_cols] += static_cast<Sum>(line[col]);
}

template <class T, class Sum, int Bin>
T bin_add_fixed(const T* frame, Index rows, Index cols, Index bin, Index out_rows, Index out_cols, Sum* sums) {
  const Index step = Bin > 0 ? Bin : bin;
  const Index rows_used = rows < out_rows * step ? rows : out_rows * step;
  const Index whole_cols = cols / step < out_cols ? cols / step : out_cols;
  // The largest of a few rows is sought while the first-level cache holds them.
  constexpr Index band = 16;
  T most = 0;
  for (Index first = 0; first < rows; first += band) {
    const Index end = first + band < rows ? first + band : rows;
    const T largest = largest_of(frame + first * cols, (end - first) * cols);
    most = largest > most ? largest : most;
    for (Index row = first; row < end && row < rows_used; ++row)
      bin_row<T, Sum, Bin>(frame + row * cols, cols, step, whole_cols, out_cols, sums + row / step * out_cols);
  }
  return most;
}

template <class T, class Sum>
T bin_add(const T* frame, Index rows, Index cols, Index bin, Index out_rows, Index out_cols, Sum* sums) {
  switch (bin) {
    case 1:
      return bin_add_fixed<T, Sum, 1>(frame, rows, cols, bin, out_rows, out_cols, sums);
    case 2:
      return bin_add_fixed<T, Sum, 2>(frame, rows, cols, bin, out_rows, out_cols, sums);
    case 4:
      return bin_add_fixed<T, Sum, 4>(frame, rows, cols, bin, out_rows, out_cols, sums);
    case 8:
      return bin_add_fixed<T, Sum, 8>(frame, rows, cols, bin, out_rows, out_cols, sums);
    default:
      return bin_add_fixed<T, Sum, 0>(frame, rows, cols, bin, out_rows, out_cols, sums);
  }
}

template <class T, class Out>
T store(const T* __restrict__ frame, Index n, Out* __restrict__ to) {
  constexpr bool can_exceed = sizeof(T) > sizeof(Out) || (!is_count<T> && is_count<Out>);
  constexpr T limit = can_exceed ? static_cast<T>(static_cast<Out>(~Out(0))) : T(0);
  T most = 0;
  for (Index i = 0; i < n; ++i) {
    const T value = frame[i];
    most = value > most ? value : most;
    if constexpr (can_exceed)
      to[i] = static_cast<Out>(value < limit ? value : limit);
    else
      to[i] = static_cast<Out>(value);
  }
  return most;
}

template <class T>
T store_f32(const T* frame, Index n, float* to) {
  T most = 0;
  for (Index i = 0; i < n; ++i) {
    most = frame[i] > most ? frame[i] : most;
    to[i] = static_cast<float>(frame[i]);
  }
  return most;
}

template <class T>
constexpr FrameKernels<T> table{clear_sentinels<T>,
                                count_above<T>,
                                largest_of<T>,
                                add_statistics<T>,
                                add_sum<T>,
                                moments<T>,
                                bin_add<T, std::uint32_t>,
                                bin_add<T, sum_of<T>>,
                                store<T, std::uint8_t>,
                                store<T, std::uint16_t>,
                                store<T, std::uint32_t>,
                                store_f32<T>};

}  // namespace

extern const FrameKernels<std::uint8_t> kernels_u8;
extern const FrameKernels<std::uint16_t> kernels_u16;
extern const FrameKernels<std::uint32_t> kernels_u32;
extern const FrameKernels<std::uint64_t> kernels_u64;
extern const FrameKernels<float> kernels_f32;
extern const FrameKernels<double> kernels_f64;
const FrameKernels<std::uint8_t> kernels_u8 = table<std::uint8_t>;
const FrameKernels<std::uint16_t> kernels_u16 = table<std::uint16_t>;
const FrameKernels<std::uint32_t> kernels_u32 = table<std::uint32_t>;
const FrameKernels<std::uint64_t> kernels_u64 = table<std::uint64_t>;
const FrameKernels<float> kernels_f32 = table<float>;
const FrameKernels<double> kernels_f64 = table<double>;

}  // namespace sonde::stem::cpu::SONDE_LEVEL
