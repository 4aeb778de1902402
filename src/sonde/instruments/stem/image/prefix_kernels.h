// SPDX-License-Identifier: Apache-2.0
// Private: element-wise steps of the radial prefix planes per device. T is u32 or u64.
#pragma once

#include <cstdint>

#include "sonde/engine/array/view.h"
#include "sonde/engine/device/stream.h"

namespace sonde::stem {

namespace cpu {
/// to = from, narrowed.
template <class T>
void store_sums(View<const std::uint64_t, 1> from, View<T, 1> to);
/// image = outer - inner.
template <class T>
void subtract_sums(View<const T, 1> outer, View<const T, 1> inner, View<std::uint64_t, 1> image);
}  // namespace cpu

namespace cuda {
template <class T>
void store_sums(Stream& stream, View<const std::uint64_t, 1> from, View<T, 1> to);
template <class T>
void subtract_sums(Stream& stream, View<const T, 1> outer, View<const T, 1> inner, View<std::uint64_t, 1> image);
}  // namespace cuda

}  // namespace sonde::stem
