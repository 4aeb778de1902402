// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/device/cuda_check.h"
#include "sonde/instruments/stem/image/diffraction_kernels.h"

namespace sonde::stem::cuda {

using sonde::cuda::launch_kernel;

namespace {

constexpr int threads = 256;

unsigned blocks_for(Index count) { return static_cast<unsigned>((count + threads - 1) / threads); }

template <class T>
__global__ void __launch_bounds__(threads)
    maximum_each(View<const T, 2> scan, View<const Index, 1> positions, View<T, 1> pattern) {
  const Index pixel = Index{blockIdx.x} * threads + threadIdx.x;
  if (pixel >= pattern.extent[0]) return;
  T largest = positions.extent[0] == 0 ? T{0} : scan(positions.data[0], pixel);
  for (Index i = 1; i < positions.extent[0]; ++i) {
    const T value = scan(positions.data[i], pixel);
    largest = value > largest ? value : largest;
  }
  pattern.data[pixel] = largest;
}

__global__ void __launch_bounds__(threads) divide_each(View<double, 1> values, double divisor) {
  const Index i = Index{blockIdx.x} * threads + threadIdx.x;
  if (i < values.extent[0]) values.data[i] /= divisor;
}

}  // namespace

template <class T>
void pattern_maximum(Stream& stream, View<const T, 2> scan, std::span<const Index> positions, View<T, 1> pattern) {
  if (pattern.extent[0] == 0) return;
  const Array list =
      Array::from(std::vector<Index>(positions.begin(), positions.end()), {static_cast<Index>(positions.size())})
          .copy_to(stream.device(), stream);
  launch_kernel(stream, "pattern_maximum", {blocks_for(pattern.extent[0]), threads}, maximum_each<T>, scan,
                list.view<Index, 1>(), pattern);
  stream.synchronise();  // the list is freed here
}

void divide(Stream& stream, View<double, 1> values, double divisor) {
  if (values.extent[0] == 0) return;
  launch_kernel(stream, "divide", {blocks_for(values.extent[0]), threads}, divide_each, values, divisor);
}

template void pattern_maximum<std::uint8_t>(Stream&, View<const std::uint8_t, 2>, std::span<const Index>,
                                            View<std::uint8_t, 1>);
template void pattern_maximum<std::uint16_t>(Stream&, View<const std::uint16_t, 2>, std::span<const Index>,
                                             View<std::uint16_t, 1>);
template void pattern_maximum<std::uint32_t>(Stream&, View<const std::uint32_t, 2>, std::span<const Index>,
                                             View<std::uint32_t, 1>);
template void pattern_maximum<float>(Stream&, View<const float, 2>, std::span<const Index>, View<float, 1>);

}  // namespace sonde::stem::cuda
