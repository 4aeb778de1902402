// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "sonde/engine/device/multiversion.h"
#include "sonde/instruments/stem/count/count_kernels.h"

namespace sonde::stem::cpu {
namespace {

template <class T>
[[gnu::always_inline]] inline void maxima_of(const T* __restrict__ above, const T* __restrict__ middle,
                                             const T* __restrict__ below, Index cols, T low,
                                             std::uint8_t* __restrict__ maxima) {
  maxima[0] = maxima[cols - 1] = 0;
  for (Index c = 1; c < cols - 1; ++c) {
    const T value = middle[c];
    const T reached = std::max(std::max(below[c], middle[c + 1]), std::max(below[c + 1], above[c + 1]));
    const T passed = std::max(std::max(above[c], middle[c - 1]), std::max(below[c - 1], above[c - 1]));
    const bool event = (value > std::max(passed, low)) & (value >= reached);
    maxima[c] = event ? 1 : 0;
  }
}

template <class T>
[[gnu::always_inline]] inline void corrected(const T* __restrict__ row, const float* __restrict__ dark,
                                             const float* __restrict__ gain, Index cols, float* __restrict__ out) {
  for (Index c = 0; c < cols; ++c) out[c] = (static_cast<float>(row[c]) - dark[c]) * gain[c];
}

}  // namespace

#define SONDE_FIND_MAXIMA(T)                                                                              \
  SONDE_MULTIVERSION void find_maxima(const T* above, const T* middle, const T* below, Index cols, T low, \
                                      std::uint8_t* maxima) {                                             \
    maxima_of(above, middle, below, cols, low, maxima);                                                   \
  }
SONDE_FIND_MAXIMA(std::uint8_t)
SONDE_FIND_MAXIMA(std::uint16_t)
SONDE_FIND_MAXIMA(float)

#define SONDE_CORRECT_ROW(T)                                                                                        \
  SONDE_MULTIVERSION void correct_row(const T* row, const float* dark, const float* gain, Index cols, float* out) { \
    corrected(row, dark, gain, cols, out);                                                                          \
  }
SONDE_CORRECT_ROW(std::uint8_t)
SONDE_CORRECT_ROW(std::uint16_t)
SONDE_CORRECT_ROW(std::uint32_t)
SONDE_CORRECT_ROW(std::uint64_t)
SONDE_CORRECT_ROW(float)
SONDE_CORRECT_ROW(double)

}  // namespace sonde::stem::cpu
