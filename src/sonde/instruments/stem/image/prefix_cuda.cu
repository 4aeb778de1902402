// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include "sonde/engine/device/cuda_check.h"
#include "sonde/instruments/stem/image/prefix_kernels.h"

namespace sonde::stem::cuda {

using sonde::cuda::launch_kernel;

namespace {

constexpr int threads = 256;

unsigned blocks_for(Index count) { return static_cast<unsigned>((count + threads - 1) / threads); }

template <class T>
__global__ void __launch_bounds__(threads) store_each(View<const std::uint64_t, 1> from, View<T, 1> to) {
  const Index i = Index{blockIdx.x} * threads + threadIdx.x;
  if (i < to.extent[0]) to.data[i] = static_cast<T>(from.data[i]);
}

template <class T>
__global__ void __launch_bounds__(threads)
    subtract_each(View<const T, 1> outer, View<const T, 1> inner, View<std::uint64_t, 1> image) {
  const Index i = Index{blockIdx.x} * threads + threadIdx.x;
  if (i < image.extent[0]) image.data[i] = static_cast<T>(outer.data[i] - inner.data[i]);
}

}  // namespace

template <class T>
void store_sums(Stream& stream, View<const std::uint64_t, 1> from, View<T, 1> to) {
  if (to.extent[0] == 0) return;
  launch_kernel(stream, "store_sums", {blocks_for(to.extent[0]), threads}, store_each<T>, from, to);
}

template <class T>
void subtract_sums(Stream& stream, View<const T, 1> outer, View<const T, 1> inner, View<std::uint64_t, 1> image) {
  if (image.extent[0] == 0) return;
  launch_kernel(stream, "subtract_sums", {blocks_for(image.extent[0]), threads}, subtract_each<T>, outer, inner, image);
}

template void store_sums<std::uint32_t>(Stream&, View<const std::uint64_t, 1>, View<std::uint32_t, 1>);
template void store_sums<std::uint64_t>(Stream&, View<const std::uint64_t, 1>, View<std::uint64_t, 1>);
template void subtract_sums<std::uint32_t>(Stream&, View<const std::uint32_t, 1>, View<const std::uint32_t, 1>,
                                           View<std::uint64_t, 1>);
template void subtract_sums<std::uint64_t>(Stream&, View<const std::uint64_t, 1>, View<const std::uint64_t, 1>,
                                           View<std::uint64_t, 1>);

}  // namespace sonde::stem::cuda
