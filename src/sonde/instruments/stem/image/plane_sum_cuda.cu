// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/device/cuda_check.h"
#include "sonde/engine/device/team_cuda.h"
#include "sonde/instruments/stem/image/plane_sum_device.h"
#include "sonde/instruments/stem/image/plane_sum_kernels.h"

namespace sonde::stem::cuda {

using sonde::cuda::launch_kernel;

namespace {

constexpr int threads = 256;

unsigned blocks_for(Index positions) { return static_cast<unsigned>((positions + threads - 1) / threads); }

/// A list in device memory.
template <class T>
Array upload(Stream& stream, std::span<const T> list) {
  return Array::from(std::vector<T>(list.begin(), list.end()), {static_cast<Index>(list.size())})
      .copy_to(stream.device(), stream);
}

template <class T>
__global__ void __launch_bounds__(threads) weighted_positions(View<const T, 2> planes, View<const Index, 1> pixels,
                                                              View<const float, 1> weights, View<double, 1> image) {
  const Index position = Index{blockIdx.x} * threads + threadIdx.x;
  if (position >= planes.extent[1]) return;
  double sum = 0;
  for (Index i = 0; i < pixels.extent[0]; ++i) {
    const double value = static_cast<double>(planes.data[pixels.data[i] * planes.stride[0] + position]);
    sum += weights.extent[0] == 0 ? value : __dmul_rn(static_cast<double>(weights.data[i]), value);
  }
  image.data[position] = sum;
}

template <class T, int Width>
void run(Stream& stream, View<const T, 2> planes, const Array& added, const Array& removed,
         View<const std::uint64_t, 1> base, View<std::uint64_t, 1> image) {
  const device::PlaneUpdate<T, Width> body{planes, added.view<Index, 1>(), removed.view<Index, 1>(), base, image};
  sonde::cuda::launch(stream, {body.pieces()}, body, "plane_update");
}

}  // namespace

template <class T>
void plane_update(Stream& stream, View<const T, 2> planes, std::span<const Index> added, std::span<const Index> removed,
                  View<const std::uint64_t, 1> base, View<std::uint64_t, 1> image) {
  if (planes.extent[1] == 0) return;
  const Array plus = upload(stream, added), minus = upload(stream, removed);
  if (device::planes_allow_groups(planes))
    run<T, 4>(stream, planes, plus, minus, base, image);
  else
    run<T, 1>(stream, planes, plus, minus, base, image);
  stream.synchronise();  // the lists are freed here
}

template <class T>
void weighted_plane_sum(Stream& stream, View<const T, 2> planes, std::span<const Index> pixels,
                        std::span<const float> weights, View<double, 1> image) {
  if (planes.extent[1] == 0) return;
  const Array list = upload(stream, pixels), factors = upload(stream, weights);
  launch_kernel(stream, "weighted_plane_sum", {blocks_for(planes.extent[1]), threads}, weighted_positions<T>, planes,
                list.view<Index, 1>(), factors.view<float, 1>(), image);
  stream.synchronise();
}

#define SONDE_INSTANTIATE(T)                                                                                     \
  template void plane_update<T>(Stream&, View<const T, 2>, std::span<const Index>, std::span<const Index>,       \
                                View<const std::uint64_t, 1>, View<std::uint64_t, 1>);                           \
  template void weighted_plane_sum<T>(Stream&, View<const T, 2>, std::span<const Index>, std::span<const float>, \
                                      View<double, 1>)
SONDE_INSTANTIATE(std::uint8_t);
SONDE_INSTANTIATE(std::uint16_t);
SONDE_INSTANTIATE(std::uint32_t);
#undef SONDE_INSTANTIATE
template void weighted_plane_sum<float>(Stream&, View<const float, 2>, std::span<const Index>, std::span<const float>,
                                        View<double, 1>);

}  // namespace sonde::stem::cuda
