// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "sonde/engine/device/cuda_check.h"
#include "sonde/instruments/stem/layout/transpose_kernels.h"

namespace sonde::stem::cuda {

using sonde::cuda::launch_kernel;

namespace {

constexpr int tile = 32;
constexpr int tile_rows = 8;  // each thread moves four elements: enough loads in flight to hide latency
constexpr Index most_blocks = Index{1} << 20;  // a loop takes what is beyond: the grid's second dimension ends at 65535

template <class In, class Out>
__global__ void __launch_bounds__(tile* tile_rows) transpose_tiles(View<const In, 2> in, View<Out, 2> out) {
  __shared__ Out shared_tile[tile][tile + 1];  // one more column: the banks of a column differ
  const Index tiles_across = (in.extent[1] + tile - 1) / tile;
  const Index tiles = tiles_across * ((in.extent[0] + tile - 1) / tile);
  for (Index each = blockIdx.x; each < tiles; each += gridDim.x) {
    const Index row = each / tiles_across * tile, col = each % tiles_across * tile;
    for (int y = static_cast<int>(threadIdx.y); y < tile; y += tile_rows)
      if (row + y < in.extent[0] && col + threadIdx.x < in.extent[1])
        shared_tile[y][threadIdx.x] = static_cast<Out>(in(row + y, col + threadIdx.x));
    __syncthreads();
    for (int y = static_cast<int>(threadIdx.y); y < tile; y += tile_rows)
      if (col + y < in.extent[1] && row + threadIdx.x < in.extent[0])
        out(col + y, row + threadIdx.x) = shared_tile[threadIdx.x][y];
    __syncthreads();
  }
}

}  // namespace

template <class In, class Out>
void transpose(Stream& stream, View<const In, 2> in, View<Out, 2> out) {
  const Index tiles = ((in.extent[1] + tile - 1) / tile) * ((in.extent[0] + tile - 1) / tile);
  const auto blocks = static_cast<unsigned>(std::min(tiles, most_blocks));
  launch_kernel(stream, "transpose", {blocks, dim3(tile, tile_rows)}, transpose_tiles<In, Out>, in, out);
}

template <class In, class Out>
void transpose_strided(Stream& stream, View<const In, 3> frames, View<Out, 2> planes) {
  // One detector row at a time: (R, cols) with any strides to (cols, R).
  for (Index row = 0; row < frames.extent[1]; ++row) {
    View<const In, 2> in;
    in.data = frames.data + row * frames.stride[1];
    in.extent[0] = frames.extent[0];
    in.extent[1] = frames.extent[2];
    in.stride[0] = frames.stride[0];
    in.stride[1] = frames.stride[2];
    View<Out, 2> out = planes;
    out.data += row * frames.extent[2] * planes.stride[0];
    out.extent[0] = frames.extent[2];
    transpose(stream, in, out);
  }
}

#define SONDE_INSTANTIATE(In, Out)                                            \
  template void transpose<In, Out>(Stream&, View<const In, 2>, View<Out, 2>); \
  template void transpose_strided<In, Out>(Stream&, View<const In, 3>, View<Out, 2>)
SONDE_INSTANTIATE(std::uint8_t, std::uint8_t);
SONDE_INSTANTIATE(std::uint16_t, std::uint16_t);
SONDE_INSTANTIATE(std::uint32_t, std::uint32_t);
SONDE_INSTANTIATE(float, float);
SONDE_INSTANTIATE(std::uint16_t, std::uint8_t);
SONDE_INSTANTIATE(std::uint32_t, std::uint8_t);
SONDE_INSTANTIATE(std::uint32_t, std::uint16_t);
#undef SONDE_INSTANTIATE

}  // namespace sonde::stem::cuda
