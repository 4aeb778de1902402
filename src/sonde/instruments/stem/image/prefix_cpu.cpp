// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/stem/image/prefix_kernels.h"

namespace sonde::stem::cpu {
namespace {

constexpr Index grain = 16384;  // 64 KiB of u32: below that starting a task costs more than it saves

}  // namespace

template <class T>
void store_sums(View<const std::uint64_t, 1> from, View<T, 1> to) {
  parallel_for(to.extent[0], grain, [&](Index first, Index last, Worker&) {
    for (Index i = first; i < last; ++i) to.data[i] = static_cast<T>(from.data[i]);
  });
}

template <class T>
void subtract_sums(View<const T, 1> outer, View<const T, 1> inner, View<std::uint64_t, 1> image) {
  parallel_for(image.extent[0], grain, [&](Index first, Index last, Worker&) {
    for (Index i = first; i < last; ++i) image.data[i] = static_cast<T>(outer.data[i] - inner.data[i]);
  });
}

template void store_sums<std::uint32_t>(View<const std::uint64_t, 1>, View<std::uint32_t, 1>);
template void store_sums<std::uint64_t>(View<const std::uint64_t, 1>, View<std::uint64_t, 1>);
template void subtract_sums<std::uint32_t>(View<const std::uint32_t, 1>, View<const std::uint32_t, 1>,
                                           View<std::uint64_t, 1>);
template void subtract_sums<std::uint64_t>(View<const std::uint64_t, 1>, View<const std::uint64_t, 1>,
                                           View<std::uint64_t, 1>);

}  // namespace sonde::stem::cpu
