// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sonde/engine/base/small_float.h"
#include "sonde/engine/device/cuda_check.h"
#include "sonde/engine/memory/encoding_kernels.h"

namespace sonde::cuda {
namespace {

constexpr int block_threads = 256;
constexpr Index most_blocks = 4096;  // each thread takes several elements of a larger array

unsigned blocks_for(Index count) {
  return static_cast<unsigned>(std::min(most_blocks, (count + block_threads - 1) / block_threads));
}

template <Encoding encoding>
__global__ void __launch_bounds__(block_threads) to_halves(Index count, const float* from, std::uint16_t* to) {
  const Index step = static_cast<Index>(gridDim.x) * block_threads;
  for (Index i = static_cast<Index>(blockIdx.x) * block_threads + threadIdx.x; i < count; i += step)
    to[i] = encoding == Encoding::bf16 ? to_bf16(from[i]) : to_fp16(from[i]);
}

template <Encoding encoding>
__global__ void __launch_bounds__(block_threads) from_halves(Index count, const std::uint16_t* from, float* to) {
  const Index step = static_cast<Index>(gridDim.x) * block_threads;
  for (Index i = static_cast<Index>(blockIdx.x) * block_threads + threadIdx.x; i < count; i += step)
    to[i] = encoding == Encoding::bf16 ? from_bf16(from[i]) : from_fp16(from[i]);
}

}  // namespace

void encode_halves(Stream& stream, Encoding encoding, Index count, const float* from, std::uint16_t* to) {
  if (count == 0) return;
  const auto kernel = encoding == Encoding::bf16 ? to_halves<Encoding::bf16> : to_halves<Encoding::fp16>;
  launch_kernel(stream, "storing 16-bit numbers", {blocks_for(count), block_threads}, kernel, count, from, to);
}

void decode_halves(Stream& stream, Encoding encoding, Index count, const std::uint16_t* from, float* to) {
  if (count == 0) return;
  const auto kernel = encoding == Encoding::bf16 ? from_halves<Encoding::bf16> : from_halves<Encoding::fp16>;
  launch_kernel(stream, "reading 16-bit numbers", {blocks_for(count), block_threads}, kernel, count, from, to);
}

}  // namespace sonde::cuda
