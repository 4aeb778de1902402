// SPDX-License-Identifier: Apache-2.0
// Private: the sums over frames per device. T is u8, u16 or u32; the weighted sum takes float too. Runs and weights lie
// in host memory; a base without data stands for zero.
#pragma once

#include <cstdint>
#include <span>

#include "sonde/engine/array/view.h"
#include "sonde/engine/device/stream.h"

namespace sonde::stem {

/// Neighbouring elements of a frame: `length` of them, the first `offset` elements behind the frame's first.
struct PixelRun {
  Index offset, length;
};

namespace cpu {
template <class T>
void masked_update(View<const T, 3> frames, std::span<const PixelRun> added, std::span<const PixelRun> removed,
                   View<const std::uint64_t, 1> base, View<std::uint64_t, 1> image);
/// The weights of all runs one after another; none: all weigh one.
template <class T>
void weighted_masked_sum(View<const T, 3> frames, std::span<const PixelRun> runs, std::span<const float> weights,
                         View<double, 1> image);
}  // namespace cpu

namespace cuda {
template <class T>
void masked_update(Stream& stream, View<const T, 3> frames, std::span<const PixelRun> added,
                   std::span<const PixelRun> removed, View<const std::uint64_t, 1> base, View<std::uint64_t, 1> image);
template <class T>
void weighted_masked_sum(Stream& stream, View<const T, 3> frames, std::span<const PixelRun> runs,
                         std::span<const float> weights, View<double, 1> image);
}  // namespace cuda

}  // namespace sonde::stem
