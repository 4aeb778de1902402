// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "sonde/engine/device/multiversion.h"
#include "sonde/instruments/stem/pass/centre_kernels.h"

namespace sonde::stem::cpu {
namespace {

/// The sums of every row and every column, each in `Narrow`, which holds them.
template <bool above, class T, class Narrow>
[[gnu::always_inline]] inline void sum_lines(const T* __restrict__ frame, Index rows, Index cols, T threshold,
                                             Narrow* __restrict__ column_sums, CentreSumsOf<sum_of<T>>& sums) {
  using Sum = sum_of<T>;
  const Index middle = rows / 2;
  for (Index col = 0; col < cols; ++col) column_sums[col] = 0;
  for (Index row = 0; row < rows; ++row) {
    const T* __restrict__ line = frame + row * cols;
    Narrow row_sum = 0;
    for (Index col = 0; col < cols; ++col) {
      const T element = above && !(line[col] > threshold) ? T(0) : line[col];
      const Narrow value = static_cast<Narrow>(element);
      row_sum = static_cast<Narrow>(row_sum + value);
      column_sums[col] = static_cast<Narrow>(column_sums[col] + value);
    }
    const Sum sum = static_cast<Sum>(row_sum);
    sums.total += sum;
    sums.moment_row += static_cast<Sum>(row) * sum;
    sums.square_row += static_cast<Sum>((row - middle) * (row - middle)) * sum;
  }
}

template <class T, class Narrow>
[[gnu::always_inline]] inline CentreSumsOf<sum_of<T>> sums_in(const T* frame, Index rows, Index cols,
                                                              const T* threshold, Narrow* column_sums) {
  using Sum = sum_of<T>;
  CentreSumsOf<Sum> sums;
  if (threshold != nullptr)
    sum_lines<true>(frame, rows, cols, *threshold, column_sums, sums);
  else
    sum_lines<false>(frame, rows, cols, T(0), column_sums, sums);
  const Index middle = cols / 2;
  for (Index col = 0; col < cols; ++col) {
    const Sum sum = static_cast<Sum>(column_sums[col]);
    sums.moment_col += static_cast<Sum>(col) * sum;
    sums.square_col += static_cast<Sum>((col - middle) * (col - middle)) * sum;
  }
  return sums;
}

template <class T>
[[gnu::always_inline]] inline CentreSumsOf<sum_of<T>> sums_of_frame(const T* frame, Index rows, Index cols, T most,
                                                                    const T* threshold, sum_of<T>* column_sums) {
  if constexpr (std::is_integral_v<T>) {
    const auto longest = static_cast<std::uint64_t>(std::max(rows, cols));
    if (most <= 65535 / longest)
      return sums_in(frame, rows, cols, threshold, reinterpret_cast<std::uint16_t*>(column_sums));
    if (most <= 0xffffffffu / longest)
      return sums_in(frame, rows, cols, threshold, reinterpret_cast<std::uint32_t*>(column_sums));
  }
  return sums_in(frame, rows, cols, threshold, column_sums);
}

}  // namespace

#define SONDE_CENTRE_SUMS(T)                                                                             \
  SONDE_MULTIVERSION CentreSumsOf<sum_of<T>> centre_sums(const T* frame, Index rows, Index cols, T most, \
                                                         const T* threshold, sum_of<T>* column_sums) {   \
    return sums_of_frame(frame, rows, cols, most, threshold, column_sums);                               \
  }
SONDE_CENTRE_SUMS(std::uint8_t)
SONDE_CENTRE_SUMS(std::uint16_t)
SONDE_CENTRE_SUMS(std::uint32_t)
SONDE_CENTRE_SUMS(std::uint64_t)
SONDE_CENTRE_SUMS(float)
SONDE_CENTRE_SUMS(double)

}  // namespace sonde::stem::cpu
