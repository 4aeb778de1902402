// SPDX-License-Identifier: Apache-2.0
// For .cu files only: the real warp and thread block behind the device logic (see team.h), and their launch.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "sonde/engine/base/index.h"
#include "sonde/engine/device/cuda_check.h"
#include "sonde/engine/device/stream.h"
#include "sonde/engine/device/team.h"

namespace sonde::cuda {

inline constexpr unsigned warp_threads = 32, all_lanes = 0xffffffffu;
inline constexpr unsigned most_threads = 512;  // per block: leaves 128 registers to each thread
#ifdef SONDE_MOST_BLOCKS                       // the tests on the CPU have a few, so that bodies loop there
inline constexpr Index most_blocks = SONDE_MOST_BLOCKS;
#else
inline constexpr Index most_blocks = Index{1} << 20;  // bodies loop over what is beyond
#endif

class Warp {
 public:
  template <class Body>
  __device__ void each(std::uint32_t n, Body&& body) const {
    for (std::uint32_t i = threadIdx.x % warp_threads; i < n; i += warp_threads) body(i);
    __syncwarp();
  }
  template <class Body>
  __device__ bool any(std::uint32_t n, Body&& body) const {
    bool found = false;
    for (std::uint32_t i = threadIdx.x % warp_threads; i < n; i += warp_threads) found |= body(i);
    return __any_sync(all_lanes, found) != 0;
  }
  template <class Body>
  __device__ std::uint64_t sum(std::uint32_t n, Body&& body) const {
    unsigned long long total = 0;
    for (std::uint32_t i = threadIdx.x % warp_threads; i < n; i += warp_threads) total += body(i);
    for (unsigned step = warp_threads / 2; step > 0; step /= 2) total += __shfl_xor_sync(all_lanes, total, step);
    return total;
  }
  template <class Body>
  __device__ void once(Body&& body) const {
    if (threadIdx.x % warp_threads == 0) body();
    __syncwarp();
  }
};

class ThreadBlock {
 public:
  [[nodiscard]] __device__ Index index() const { return blockIdx.x; }
  [[nodiscard]] __device__ Index count() const { return gridDim.x; }
  [[nodiscard]] __device__ std::uint8_t* scratch() const {
    extern __shared__ __align__(16) std::uint8_t shared_scratch[];
    return shared_scratch;
  }

  template <class Body>
  __device__ void each(Index n, Body&& body) const {
    for (Index i = threadIdx.x; i < n; i += blockDim.x) body(i);
    __syncthreads();
  }
  template <class Body>
  __device__ void once(Body&& body) const {
    if (threadIdx.x == 0) body();
    __syncthreads();
  }
  template <class Body>
  __device__ void each_warp(Body&& body) const {
    const Warp warp;
    body(warp, threadIdx.x / warp_threads, blockDim.x / warp_threads);
    __syncthreads();
  }
  template <int Count, class Sum, class Body>
  __device__ void sums(Index n, Sum (&result)[Count], Body&& body) const {
    __shared__ Sum shared_partial[Count][most_threads / warp_threads];
    Sum partial[Count] = {};
    for (Index i = threadIdx.x; i < n; i += blockDim.x) body(i, partial);
    for (int k = 0; k < Count; ++k) {
      for (unsigned step = warp_threads / 2; step > 0; step /= 2)
        partial[k] += __shfl_down_sync(all_lanes, partial[k], step);
      if (threadIdx.x % warp_threads == 0) shared_partial[k][threadIdx.x / warp_threads] = partial[k];
    }
    __syncthreads();
    for (int k = 0; k < Count; ++k) {
      result[k] = 0;
      for (unsigned w = 0; w < blockDim.x / warp_threads; ++w) result[k] += shared_partial[k][w];
    }
    __syncthreads();  // before the next call overwrites the partial sums
  }
  template <class Body>
  __device__ double largest(Index n, Body&& body) const {
    __shared__ double shared_most[most_threads / warp_threads];
    double most = 0;
    for (Index i = threadIdx.x; i < n; i += blockDim.x) most = larger(most, body(i));
    for (unsigned step = warp_threads / 2; step > 0; step /= 2)
      most = larger(most, __shfl_down_sync(all_lanes, most, step));
    if (threadIdx.x % warp_threads == 0) shared_most[threadIdx.x / warp_threads] = most;
    __syncthreads();
    most = 0;
    for (unsigned w = 0; w < blockDim.x / warp_threads; ++w) most = larger(most, shared_most[w]);
    __syncthreads();
    return most;
  }
};

template <class Body>
__global__ void __launch_bounds__(most_threads) run_blocks(const Body body) {
  ThreadBlock block;
  body(block);
}

/// body(block) for all blocks, queued to the stream. The body is copied; what it points to must live until the stream
/// has come past it.
template <class Body>
void launch(Stream& stream, const LaunchSize& size, const Body& body, const char* name) {
  if (size.blocks == 0) return;
  constexpr std::size_t always_allowed_bytes = 48 << 10;
  if (size.scratch_bytes > always_allowed_bytes) {
    (void)launch_on(stream);  // the permission is the device's
    check(cudaFuncSetAttribute(run_blocks<Body>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(size.scratch_bytes)),
          name);
  }
  const auto blocks = static_cast<unsigned>(size.blocks < most_blocks ? size.blocks : most_blocks);
  launch_kernel(stream, name, {blocks, size.warps * warp_threads, size.scratch_bytes}, run_blocks<Body>, body);
}

}  // namespace sonde::cuda
