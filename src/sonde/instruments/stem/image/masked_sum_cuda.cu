// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/device/cuda_check.h"
#include "sonde/instruments/stem/image/masked_sum_kernels.h"

namespace sonde::stem::cuda {

using sonde::cuda::launch_kernel;

namespace {

constexpr int warp = 32;
constexpr int warps = 8;  // positions per block

unsigned blocks_for(Index positions) { return static_cast<unsigned>((positions + warps - 1) / warps); }

/// The offsets of all elements of the runs, in device memory.
Array upload(Stream& stream, std::span<const PixelRun> runs) {
  std::vector<Index> offsets;
  for (const PixelRun& run : runs)
    for (Index k = 0; k < run.length; ++k) offsets.push_back(run.offset + k);
  return Array::from(offsets, {static_cast<Index>(offsets.size())}).copy_to(stream.device(), stream);
}

/// The place of each element in its run, modulo eight: the partial sum it belongs to.
Array upload_places(Stream& stream, std::span<const PixelRun> runs) {
  std::vector<std::uint8_t> places;
  for (const PixelRun& run : runs)
    for (Index k = 0; k < run.length; ++k) places.push_back(static_cast<std::uint8_t>(k % 8));
  return Array::from(places, {static_cast<Index>(places.size())}).copy_to(stream.device(), stream);
}

/// One warp per position: its lanes read neighbouring pixels.
template <class T>
__global__ void __launch_bounds__(warp* warps)
    update_positions(View<const T, 3> frames, View<const Index, 1> added, View<const Index, 1> removed,
                     View<const std::uint64_t, 1> base, View<std::uint64_t, 1> image) {
  const Index position = Index{blockIdx.x} * warps + threadIdx.x / warp;
  if (position >= frames.extent[0]) return;
  const int lane = threadIdx.x % warp;
  const T* frame = frames.data + position * frames.stride[0];
  unsigned long long sum = 0;
  for (Index i = lane; i < added.extent[0]; i += warp) sum += frame[added.data[i]];
  for (Index i = lane; i < removed.extent[0]; i += warp) sum -= frame[removed.data[i]];
  for (int step = warp / 2; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (lane == 0) image.data[position] = (base.data == nullptr ? 0 : base.data[position]) + sum;
}

/// One position per eight threads, one partial sum each, so that the order of the sum is the CPU's.
template <class T>
__global__ void __launch_bounds__(warp* warps)
    weighted_positions(View<const T, 3> frames, View<const Index, 1> offsets, View<const std::uint8_t, 1> places,
                       View<const float, 1> weights, View<double, 1> image) {
  const Index position = (Index{blockIdx.x} * blockDim.x + threadIdx.x) / 8;
  const int place = threadIdx.x % 8;
  double sum = 0;
  if (position < frames.extent[0]) {
    const T* frame = frames.data + position * frames.stride[0];
    for (Index i = 0; i < offsets.extent[0]; ++i) {
      if (places.data[i] != place) continue;
      const double value = static_cast<double>(frame[offsets.data[i]]);
      sum += weights.extent[0] == 0 ? value : __dmul_rn(static_cast<double>(weights.data[i]), value);
    }
  }
  for (int step = 1; step < 8; step *= 2) sum += __shfl_down_sync(0xffffffffu, sum, step, 8);
  if (place == 0 && position < frames.extent[0]) image.data[position] = sum;
}

}  // namespace

template <class T>
void masked_update(Stream& stream, View<const T, 3> frames, std::span<const PixelRun> added,
                   std::span<const PixelRun> removed, View<const std::uint64_t, 1> base, View<std::uint64_t, 1> image) {
  if (frames.extent[0] == 0) return;
  const Array plus = upload(stream, added), minus = upload(stream, removed);
  launch_kernel(stream, "masked_update", {blocks_for(frames.extent[0]), warp * warps}, update_positions<T>, frames,
                plus.view<Index, 1>(), minus.view<Index, 1>(), base, image);
  stream.synchronise();  // the lists are freed here
}

template <class T>
void weighted_masked_sum(Stream& stream, View<const T, 3> frames, std::span<const PixelRun> runs,
                         std::span<const float> weights, View<double, 1> image) {
  if (frames.extent[0] == 0) return;
  const Array offsets = upload(stream, runs), places = upload_places(stream, runs);
  const Array factors =
      Array::from(std::vector<float>(weights.begin(), weights.end()), {static_cast<Index>(weights.size())})
          .copy_to(stream.device(), stream);
  const auto blocks = static_cast<unsigned>((frames.extent[0] * 8 + warp * warps - 1) / (warp * warps));
  launch_kernel(stream, "weighted_masked_sum", {blocks, warp * warps}, weighted_positions<T>, frames,
                offsets.view<Index, 1>(), places.view<std::uint8_t, 1>(), factors.view<float, 1>(), image);
  stream.synchronise();
}

#define SONDE_INSTANTIATE(T)                                                                                         \
  template void masked_update<T>(Stream&, View<const T, 3>, std::span<const PixelRun>, std::span<const PixelRun>,    \
                                 View<const std::uint64_t, 1>, View<std::uint64_t, 1>);                              \
  template void weighted_masked_sum<T>(Stream&, View<const T, 3>, std::span<const PixelRun>, std::span<const float>, \
                                       View<double, 1>)
SONDE_INSTANTIATE(std::uint8_t);
SONDE_INSTANTIATE(std::uint16_t);
SONDE_INSTANTIATE(std::uint32_t);
#undef SONDE_INSTANTIATE
template void weighted_masked_sum<float>(Stream&, View<const float, 3>, std::span<const PixelRun>,
                                         std::span<const float>, View<double, 1>);

}  // namespace sonde::stem::cuda
