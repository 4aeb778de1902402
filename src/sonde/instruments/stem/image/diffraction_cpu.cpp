// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/stem/image/diffraction_kernels.h"

namespace sonde::stem::cpu {
namespace {

/// Frames one after another; the pattern's part of a task stays in the first-level cache.
template <class T>
void maximum_of_rows(View<const T, 2> scan, std::span<const Index> positions, Index first, Index last, T* pattern) {
  for (const Index position : positions) {
    const T* frame = scan.data + position * scan.stride[0];
    for (Index pixel = first; pixel < last; ++pixel)
      pattern[pixel] = frame[pixel] > pattern[pixel] ? frame[pixel] : pattern[pixel];
  }
}

}  // namespace

template <class T>
void pattern_maximum(View<const T, 2> scan, std::span<const Index> positions, View<T, 1> pattern) {
  parallel_for(pattern.extent[0], 4096, [&](Index first, Index last, Worker&) {
    for (Index pixel = first; pixel < last; ++pixel)
      pattern.data[pixel] = positions.empty() ? T{0} : scan(positions.front(), pixel);
    if (positions.empty()) return;
    if (scan.stride[1] == 1) return maximum_of_rows(scan, positions.subspan(1), first, last, pattern.data);
    for (Index pixel = first; pixel < last; ++pixel)
      for (const Index position : positions.subspan(1))
        pattern.data[pixel] = std::max(pattern.data[pixel], scan(position, pixel));
  });
}

void divide(View<double, 1> values, double divisor) {
  for (Index i = 0; i < values.extent[0]; ++i) values.data[i] /= divisor;
}

template void pattern_maximum<std::uint8_t>(View<const std::uint8_t, 2>, std::span<const Index>, View<std::uint8_t, 1>);
template void pattern_maximum<std::uint16_t>(View<const std::uint16_t, 2>, std::span<const Index>,
                                             View<std::uint16_t, 1>);
template void pattern_maximum<std::uint32_t>(View<const std::uint32_t, 2>, std::span<const Index>,
                                             View<std::uint32_t, 1>);
template void pattern_maximum<float>(View<const float, 2>, std::span<const Index>, View<float, 1>);

}  // namespace sonde::stem::cpu
