// SPDX-License-Identifier: Apache-2.0
// Private: the sums over planes per device. T is u8, u16 or u32; the weighted sum takes float too. The pixel lists and
// weights lie in host memory; a base without data stands for zero.
#pragma once

#include <cstdint>
#include <span>

#include "sonde/engine/array/view.h"
#include "sonde/engine/device/stream.h"

namespace sonde::stem {

namespace cpu {
template <class T>
void plane_update(View<const T, 2> planes, std::span<const Index> added, std::span<const Index> removed,
                  View<const std::uint64_t, 1> base, View<std::uint64_t, 1> image);
template <class T>
void weighted_plane_sum(View<const T, 2> planes, std::span<const Index> pixels, std::span<const float> weights,
                        View<double, 1> image);
}  // namespace cpu

namespace cuda {
template <class T>
void plane_update(Stream& stream, View<const T, 2> planes, std::span<const Index> added, std::span<const Index> removed,
                  View<const std::uint64_t, 1> base, View<std::uint64_t, 1> image);
template <class T>
void weighted_plane_sum(Stream& stream, View<const T, 2> planes, std::span<const Index> pixels,
                        std::span<const float> weights, View<double, 1> image);
}  // namespace cuda

}  // namespace sonde::stem
