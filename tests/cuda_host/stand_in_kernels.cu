// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_host/stand_in_kernels.h"

#include <cuda_runtime.h>

#include "tests/cuda_host/cuda_host.h"

namespace sonde::cuda {

// The stand-in defines the dynamic shared memory that team_cuda.h declares.
__global__ void write_scratch() {
  extern __shared__ __align__(16) std::uint8_t shared_scratch[];
  shared_scratch[threadIdx.x] = 1;
}

namespace {

using cuda_host::block_threads;
using cuda_host::Fault;

__global__ void sum_block(const int* from, int* to) {
  __shared__ int shared_sums[2];
  int sum = from[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  if (threadIdx.x % 32 == 0) shared_sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) to[blockIdx.x] = shared_sums[0] + shared_sums[1];
}

__global__ void reverse_without_barrier(int* data) {
  __shared__ int shared_data[block_threads];
  shared_data[threadIdx.x] = data[threadIdx.x];
  data[threadIdx.x] = shared_data[block_threads - 1 - threadIdx.x];
}

__global__ void reverse_twice(int* data) {
  __shared__ int shared_data[block_threads];
  for (int i = 0; i < 2; ++i) {
    shared_data[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = shared_data[block_threads - 1 - threadIdx.x];
  }
}

__global__ void barrier_of_half(int* data) {
  if (threadIdx.x >= block_threads / 2) return;
  __syncthreads();
  data[threadIdx.x] = 0;
}

__global__ void two_barriers(int* data) {
  if (threadIdx.x < block_threads / 2)
    __syncthreads();
  else
    __syncthreads();
  data[threadIdx.x] = 0;
}

__global__ void shift_left(int* data) {
  const int next = data[threadIdx.x + 1];
  __syncthreads();
  data[threadIdx.x] = next;
}

__global__ void write_before(int* data) { data[static_cast<int>(threadIdx.x) - 1] = 1; }

__global__ void write_misaligned(int* data) {
  *reinterpret_cast<int*>(reinterpret_cast<char*>(data) + 4 * threadIdx.x + 1) = 1;
}

__global__ void read_unwritten(int* data) {
  __shared__ int shared_data[block_threads];
  if (threadIdx.x > 0) shared_data[threadIdx.x] = 1;
  __syncthreads();
  data[threadIdx.x] = shared_data[block_threads - 1 - threadIdx.x];
}

__global__ void pass_on_within_warps(int* data) {
  __shared__ int shared_data[block_threads];
  shared_data[threadIdx.x] = data[threadIdx.x];
  __syncwarp();
  data[threadIdx.x] = shared_data[(threadIdx.x + 1) % block_threads];
}

__global__ void add_from_blocks(int* data) {
  if (threadIdx.x == 0) *data += 1;
}

__global__ void atomic_and_plain(int* data) {
  if (threadIdx.x == 0)
    data[1] = data[0];
  else
    atomicAdd(data, 1);
}

__global__ void shuffle_of_half(int* data) {
  if (threadIdx.x % 32 < 16) data[threadIdx.x] = __shfl_xor_sync(~0u, 1, 16);
}

__global__ void different_meetings(int* data) {
  if (threadIdx.x % 32 < 16)
    data[threadIdx.x] = __shfl_xor_sync(~0u, 1, 1);
  else
    __syncwarp();
}

__global__ void local_of_another(int* data) {
  __shared__ int* shared_place;
  int mine = static_cast<int>(threadIdx.x);
  if (threadIdx.x == 0) shared_place = &mine;
  __syncthreads();
  data[threadIdx.x] = *shared_place;
  __syncthreads();
}

__global__ void index_outside(int* data, int index) {
  int local[4] = {1, 2, 3, 4};
  for (int& each : local) each += data[threadIdx.x];
  data[threadIdx.x] = local[index];
}

__global__ void sum_atomically(const int* from, int* to) { atomicAdd(to, from[blockIdx.x * blockDim.x + threadIdx.x]); }

__global__ void note_order(int* order, int* count) {
  if (threadIdx.x == 0) order[atomicAdd(count, 1)] = static_cast<int>(blockIdx.x);
}

__global__ void shuffle_lanes(int* to, int width) {
  const int lane = static_cast<int>(threadIdx.x);
  to[lane] = __shfl_up_sync(~0u, lane, 3, width);
  to[32 + lane] = __shfl_down_sync(~0u, lane, 3, width);
  to[64 + lane] = __shfl_xor_sync(~0u, lane, 5, width);
  to[96 + lane] = __shfl_sync(~0u, lane, 2, width);
  to[128 + lane] = static_cast<int>(__ballot_sync(~0u, lane % 3 == 0));
}

/// Device memory with these numbers.
class Numbers {
 public:
  explicit Numbers(const std::vector<int>& values) : count_(values.size()) {
    (void)cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
    (void)cudaMalloc(&data_, count_ * sizeof(int));
    (void)cudaMemcpyAsync(data_, values.data(), count_ * sizeof(int), cudaMemcpyDefault, stream_);
  }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  ~Numbers() {
    (void)cudaStreamDestroy(stream_);
    (void)cudaFree(data_);
  }
  [[nodiscard]] int* data() const { return data_; }
  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  [[nodiscard]] std::vector<int> values() const {
    std::vector<int> host(count_);
    (void)cudaMemcpyAsync(host.data(), data_, count_ * sizeof(int), cudaMemcpyDefault, stream_);
    return host;
  }

 private:
  std::size_t count_;
  int* data_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

template <class... Parameters, class... Arguments>
void start(cudaStream_t stream, dim3 blocks, void (*kernel)(Parameters...), Arguments... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = block_threads;
  config.dynamicSmemBytes = block_threads / 2;
  config.stream = stream;
  (void)cudaLaunchKernelEx(&config, kernel, arguments...);
}

void start(Fault fault, const Numbers& numbers, Numbers& sums, int* host) {
  const cudaStream_t stream = numbers.stream();
  int* const data = numbers.data();
  switch (fault) {
    case Fault::none:
      return start(stream, 1, sum_block, data, sums.data());
    case Fault::no_barrier:
      return start(stream, 1, reverse_without_barrier, data);
    case Fault::no_second_barrier:
      return start(stream, 1, reverse_twice, data);
    case Fault::barrier_of_half:
      return start(stream, 1, barrier_of_half, data);
    case Fault::two_barriers:
      return start(stream, 1, two_barriers, data);
    case Fault::read_out_of_bounds:
      return start(stream, 1, shift_left, data);
    case Fault::write_out_of_bounds:
      return start(stream, 1, write_before, data);
    case Fault::misaligned:
      return start(stream, 1, write_misaligned, data);
    case Fault::unwritten_shared:
      return start(stream, 1, read_unwritten, data);
    case Fault::scratch_out_of_bounds:
      return start(stream, 1, write_scratch);
    case Fault::across_warps:
      return start(stream, 1, pass_on_within_warps, data);
    case Fault::across_blocks:
      return start(stream, 4, add_from_blocks, data);
    case Fault::atomic_and_plain:
      return start(stream, 1, atomic_and_plain, data);
    case Fault::lane_missing:
      return start(stream, 1, shuffle_of_half, data);
    case Fault::different_meetings:
      return start(stream, 1, different_meetings, data);
    case Fault::local_of_another:
      return start(stream, 1, local_of_another, data);
    case Fault::host_memory:
      return start(stream, 1, sum_block, host, data);
    case Fault::index_outside_of_array:
      return start(stream, 1, index_outside, data, 4);
  }
}

}  // namespace
}  // namespace sonde::cuda

namespace cuda_host {

using namespace sonde::cuda;

std::string play(Fault fault, std::uint64_t seed) {
  set_seed(seed);
  std::vector<int> host(block_threads, 1);
  const sonde::cuda::Numbers numbers(host);
  sonde::cuda::Numbers sums({0});
  start(fault, numbers, sums, host.data());
  (void)cudaStreamSynchronize(numbers.stream());
  const std::string found = failure();
  reset();
  return found;
}

std::vector<int> block_sums(const std::vector<int>& of) {
  const std::size_t blocks = of.size() / block_threads;
  const sonde::cuda::Numbers from(of), to(std::vector<int>(blocks, -1));
  start(to.stream(), static_cast<unsigned>(blocks), sum_block, from.data(), to.data());
  return to.values();
}

int atomic_sum(const std::vector<int>& of) {
  const sonde::cuda::Numbers from(of), to({0});
  start(to.stream(), static_cast<unsigned>(of.size() / block_threads), sum_atomically, from.data(), to.data());
  return to.values().front();
}

std::vector<int> order_of_blocks(int blocks, std::uint64_t seed) {
  set_seed(seed);
  const sonde::cuda::Numbers order(std::vector<int>(static_cast<std::size_t>(blocks), -1)), count({0});
  start(order.stream(), static_cast<unsigned>(blocks), note_order, order.data(), count.data());
  return order.values();
}

std::vector<int> shuffled_lanes(int width) {
  const sonde::cuda::Numbers to(std::vector<int>(160));
  cudaLaunchConfig_t config{};
  config.blockDim = 32;
  config.stream = to.stream();
  (void)cudaLaunchKernelEx(&config, shuffle_lanes, to.data(), width);
  return to.values();
}

}  // namespace cuda_host
