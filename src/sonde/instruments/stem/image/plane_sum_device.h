// SPDX-License-Identifier: Apache-2.0
// Private: sums of planes by the threads of a GPU, as a template over the thread block (engine/device/team.h).
#pragma once

#include <cstdint>

#include "sonde/engine/array/view.h"
#include "sonde/engine/device/stream.h"
#include "sonde/engine/device/team.h"

namespace sonde::stem::device {

/// Counts of neighbouring positions, read at once.
template <class T, int Width>
struct alignas(sizeof(T) * Width) Neighbours {
  T value[Width];
};

/// Holds the sum of 65536 counts.
template <class T>
struct LaneOf {
  using type = std::uint32_t;
};
template <>
struct LaneOf<std::uint32_t> {
  using type = std::uint64_t;
};

/// image(p) = base(p) + sum of the added planes - sum of the removed ones, in integers that wrap. A thread takes
/// `Width` neighbouring positions through all planes: a warp's loads are whole cache lines, and those of eight planes
/// are under way at once. Planes start at multiples of the loads' size when Width is above one.
template <class T, int Width>
struct PlaneUpdate {
  static constexpr Index tile_groups = 256;  // groups of positions per thread block, one to a thread

  View<const T, 2> planes;
  View<const Index, 1> added, removed;
  View<const std::uint64_t, 1> base;  // no data: zero
  View<std::uint64_t, 1> image;

  [[nodiscard]] SONDE_HOST_DEVICE Index pieces() const {
    return (planes.extent[1] + Width * tile_groups - 1) / (Width * tile_groups);
  }

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    const Index all = pieces();
    for (Index piece = block.index(); piece < all; piece += block.count())
      block.each(tile_groups, [&](Index i) {
        const Index first = (piece * tile_groups + i) * Width;
        if (first + Width <= planes.extent[1])
          group(first);
        else
          for (Index position = first; position < planes.extent[1]; ++position) one(position);
      });
  }

 private:
  SONDE_DEVICE void group(Index first) const {
    std::uint64_t sum[Width];
    for (int k = 0; k < Width; ++k) sum[k] = base.data == nullptr ? 0 : base.data[first + k];
    accumulate(added, first, sum, 1);
    accumulate(removed, first, sum, ~std::uint64_t{0});
    for (int k = 0; k < Width; ++k) image.data[first + k] = sum[k];
  }

  /// sum += sign * (sum of the listed planes).
  SONDE_DEVICE void accumulate(View<const Index, 1> list, Index first, std::uint64_t (&sum)[Width],
                               std::uint64_t sign) const {
    constexpr Index flush_after = 65536;
    for (Index begin = 0; begin < list.extent[0]; begin += flush_after) {
      const Index end = begin + flush_after < list.extent[0] ? begin + flush_after : list.extent[0];
      typename LaneOf<T>::type lanes[Width] = {};
#ifdef __CUDA_ARCH__
#pragma unroll 8
#endif
      for (Index i = begin; i < end; ++i) {
        const auto counts =
            *reinterpret_cast<const Neighbours<T, Width>*>(planes.data + list.data[i] * planes.stride[0] + first);
        for (int k = 0; k < Width; ++k) lanes[k] += counts.value[k];
      }
      for (int k = 0; k < Width; ++k) sum[k] += sign * lanes[k];
    }
  }

  SONDE_DEVICE void one(Index position) const {
    std::uint64_t sum = base.data == nullptr ? 0 : base.data[position];
    for (Index i = 0; i < added.extent[0]; ++i) sum += planes.data[added.data[i] * planes.stride[0] + position];
    for (Index i = 0; i < removed.extent[0]; ++i) sum -= planes.data[removed.data[i] * planes.stride[0] + position];
    image.data[position] = sum;
  }
};

/// Whether every plane starts at a multiple of the size of four counts, so that these may be read at once.
template <class T>
bool planes_allow_groups(View<const T, 2> planes) {
  constexpr std::size_t load_bytes = 4 * sizeof(T);
  return reinterpret_cast<std::uintptr_t>(planes.data) % load_bytes == 0 &&
         static_cast<std::size_t>(planes.stride[0]) * sizeof(T) % load_bytes == 0;
}

}  // namespace sonde::stem::device
