// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include "sonde/engine/device/cuda_check.h"
#include "sonde/instruments/stem/image/prefix_kernels.h"

namespace sonde::stem::cuda {
namespace {

constexpr int threads = 256;

unsigned blocks_for(Index count) { return static_cast<unsigned>((count + threads - 1) / threads); }
cudaStream_t queue(Stream& stream) { return sonde::cuda::launch_on(stream); }

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
  store_each<<<blocks_for(to.extent[0]), threads, 0, queue(stream)>>>(from, to);
  sonde::cuda::check_launch("store_sums");
}

template <class T>
void subtract_sums(Stream& stream, View<const T, 1> outer, View<const T, 1> inner, View<std::uint64_t, 1> image) {
  if (image.extent[0] == 0) return;
  subtract_each<<<blocks_for(image.extent[0]), threads, 0, queue(stream)>>>(outer, inner, image);
  sonde::cuda::check_launch("subtract_sums");
}

template void store_sums<std::uint32_t>(Stream&, View<const std::uint64_t, 1>, View<std::uint32_t, 1>);
template void store_sums<std::uint64_t>(Stream&, View<const std::uint64_t, 1>, View<std::uint64_t, 1>);
template void subtract_sums<std::uint32_t>(Stream&, View<const std::uint32_t, 1>, View<const std::uint32_t, 1>,
                                           View<std::uint64_t, 1>);
template void subtract_sums<std::uint64_t>(Stream&, View<const std::uint64_t, 1>, View<const std::uint64_t, 1>,
                                           View<std::uint64_t, 1>);

}  // namespace sonde::stem::cuda
