// SPDX-License-Identifier: Apache-2.0
// Stands for the header of the CUDA runtime where .cu files are compiled for the host (see ../README.md): the words of
// the language, what the kernels of sonde call, and the part of the runtime's interface that sonde uses. It is
// included before everything else, as nvcc does. Names that begin with two underscores are CUDA's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

#define __CUDACC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDA_ARCH__ 900
#define CUDART_VERSION 13000

#define __host__
#define __device__
#define __global__
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
// One for each thread of the host, which plays one block at a time. In a function the word implies `static`, and
// `extern __shared__` is a declaration of what machine.cpp defines.
#define __shared__ thread_local

struct uint3 {
  unsigned x = 0, y = 0, z = 0;
};
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned of_x = 1, unsigned of_y = 1, unsigned of_z = 1) : x(of_x), y(of_y), z(of_z) {}
};

namespace cuda_host {

/// A number of the thread that runs: `axis` 0, 1 or 2. The same wherever a thread's kernel asks.
[[gnu::const]] unsigned thread_index(int axis);
[[gnu::const]] unsigned block_index(int axis);
[[gnu::const]] unsigned block_size(int axis);
[[gnu::const]] unsigned grid_size(int axis);

/// Such numbers as members x, y and z, which are no memory.
template <unsigned (*number)(int)>
struct Numbers {
  template <int axis>
  struct Number {
    operator unsigned() const { return number(axis); }
  };
  Number<0> x;
  Number<1> y;
  Number<2> z;
};

enum class Together : std::uint8_t { synchronise, shuffle, shuffle_up, shuffle_down, shuffle_xor, any, all, ballot };

/// What the lanes of a warp do together: waits for all of `mask`, returns this lane's result.
std::uint64_t together(Together operation, unsigned mask, std::uint64_t value, int argument, int width,
                       std::source_location at);

template <class T>
T shuffled(Together operation, unsigned mask, T value, int argument, int width, std::source_location at) {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  bits = together(operation, mask, bits, argument, width, at);
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

/// An atomic update of a number in global or shared memory: change(old) is stored, old returned. No other thread of
/// the device runs meanwhile.
void note_atomic(const void* address, std::size_t bytes);
template <class T, class Change>
[[gnu::no_sanitize("thread")]] inline T updated(T* address, Change change) {
  note_atomic(address, sizeof(T));
  const T old = *address;
  *address = change(old);
  return old;
}

}  // namespace cuda_host

inline constexpr cuda_host::Numbers<cuda_host::thread_index> threadIdx;
inline constexpr cuda_host::Numbers<cuda_host::block_index> blockIdx;
inline constexpr cuda_host::Numbers<cuda_host::block_size> blockDim;
inline constexpr cuda_host::Numbers<cuda_host::grid_size> gridDim;

// Threads that work together.
void __syncthreads(std::source_location at = std::source_location::current());
inline void __syncwarp(unsigned mask = ~0u, std::source_location at = std::source_location::current()) {
  (void)cuda_host::together(cuda_host::Together::synchronise, mask, 0, 0, 32, at);
}
template <class T>
T __shfl_sync(unsigned mask, T value, int lane, int width = 32,
              std::source_location at = std::source_location::current()) {
  return cuda_host::shuffled(cuda_host::Together::shuffle, mask, value, lane, width, at);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned step, int width = 32,
                 std::source_location at = std::source_location::current()) {
  return cuda_host::shuffled(cuda_host::Together::shuffle_up, mask, value, static_cast<int>(step), width, at);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned step, int width = 32,
                   std::source_location at = std::source_location::current()) {
  return cuda_host::shuffled(cuda_host::Together::shuffle_down, mask, value, static_cast<int>(step), width, at);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int flip, int width = 32,
                  std::source_location at = std::source_location::current()) {
  return cuda_host::shuffled(cuda_host::Together::shuffle_xor, mask, value, flip, width, at);
}
inline int __any_sync(unsigned mask, int holds, std::source_location at = std::source_location::current()) {
  return static_cast<int>(cuda_host::together(cuda_host::Together::any, mask, holds != 0, 0, 32, at));
}
inline int __all_sync(unsigned mask, int holds, std::source_location at = std::source_location::current()) {
  return static_cast<int>(cuda_host::together(cuda_host::Together::all, mask, holds != 0, 0, 32, at));
}
inline unsigned __ballot_sync(unsigned mask, int holds, std::source_location at = std::source_location::current()) {
  return static_cast<unsigned>(cuda_host::together(cuda_host::Together::ballot, mask, holds != 0, 0, 32, at));
}

template <class T>
T atomicAdd(T* address, std::type_identity_t<T> value) {
  return cuda_host::updated(address, [=](T old) { return static_cast<T>(old + value); });
}
template <class T>
T atomicMax(T* address, std::type_identity_t<T> value) {
  return cuda_host::updated(address, [=](T old) { return value > old ? value : old; });
}
template <class T>
T atomicMin(T* address, std::type_identity_t<T> value) {
  return cuda_host::updated(address, [=](T old) { return value < old ? value : old; });
}
template <class T>
T atomicOr(T* address, std::type_identity_t<T> value) {
  return cuda_host::updated(address, [=](T old) { return static_cast<T>(old | value); });
}
template <class T>
T atomicExch(T* address, std::type_identity_t<T> value) {
  return cuda_host::updated(address, [=](T) { return value; });
}
template <class T>
T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  return cuda_host::updated(address, [=](T old) { return old == expected ? value : old; });
}

// Arithmetic. What is compiled here has no fused multiply-add, so that these are the plain operations.
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline int __popc(unsigned word) { return __builtin_popcount(word); }
inline int __popcll(unsigned long long word) { return __builtin_popcountll(word); }
inline int __clz(int word) { return word == 0 ? 32 : __builtin_clz(static_cast<unsigned>(word)); }
inline int __ffs(int word) { return __builtin_ffs(word); }
template <class T>
T __ldg(const T* address) {
  return *address;
}

// The runtime. What a call promises is in NVIDIA's manual; the checks that this one makes are in ../README.md.
enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInsufficientDriver = 35,
  cudaErrorNoDevice = 100,
  cudaErrorLaunchFailure = 719,
  cudaErrorStreamCaptureUnsupported = 900
};
enum cudaMemcpyKind { cudaMemcpyDefault = 4 };
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal = 1 };
enum cudaDeviceAttr { cudaDevAttrMemoryPoolsSupported = 115 };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
inline constexpr unsigned cudaStreamNonBlocking = 1;

struct cudaDeviceProp {
  char name[256];
  std::size_t totalGlobalMem, sharedMemPerBlockOptin;
  int major, minor, multiProcessorCount, integrated;
};
using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;
using cudaGraph_t = struct CUgraph_st*;
using cudaGraphExec_t = struct CUgraphExec_st*;
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes;
  cudaStream_t stream;
};

/// A queue of work. Libraries (cufft_module.cpp) add to it without a symbol of this program.
struct CUstream_st {
  virtual ~CUstream_st() = default;
  virtual void add(std::function<void()> work) = 0;
};

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetLastError();
const char* cudaGetErrorString(cudaError_t error);

cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes);
cudaError_t cudaMalloc(void** block, std::size_t bytes);
cudaError_t cudaFree(void* block);
cudaError_t cudaMallocHost(void** block, std::size_t bytes);
cudaError_t cudaFreeHost(void* block);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemsetAsync(void* to, int byte, std::size_t bytes, cudaStream_t stream);
template <class T>
cudaError_t cudaMalloc(T** block, std::size_t bytes) {
  return cudaMalloc(reinterpret_cast<void**>(block), bytes);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t first, cudaEvent_t second);

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* ready, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph);

namespace cuda_host {

/// A kernel with its arguments.
struct Call {
  const void* kernel;            ///< its address
  const char* type;              ///< the mangled type of its parameters, for messages
  const void* arguments;         ///< where they are kept: what a thread may read there
  std::size_t bytes;             ///< and how many bytes
  void (*play)(const void* of);  ///< runs it, with these arguments, for the thread that asks
};
cudaError_t allow_shared_bytes(const void* kernel, int bytes);
/// Whether a device would take a launch of this shape; then it can be queued.
cudaError_t check_shape(const cudaLaunchConfig_t& config, const void* kernel);
/// All threads of all blocks, now.
void play_grid(const dim3& grid, const dim3& block, std::size_t shared_bytes, const Call& call);

}  // namespace cuda_host

template <class... Parameters>
cudaError_t cudaFuncSetAttribute(void (*kernel)(Parameters...), cudaFuncAttribute, int value) {
  return cuda_host::allow_shared_bytes(reinterpret_cast<const void*>(kernel), value);
}

namespace cuda_host {
/// A launch in a stream.
template <class... Parameters>
struct Launch {
  void (*kernel)(Parameters...);
  dim3 blocks, threads;
  std::size_t shared_bytes;
  std::tuple<std::remove_const_t<Parameters>...> arguments;

  void operator()() const {
    play_grid(blocks, threads, shared_bytes,
              {reinterpret_cast<const void*>(kernel), typeid(kernel).name(), this, sizeof *this, play});
  }
  static void play(const void* of) {
    const auto* const launch = static_cast<const Launch*>(of);
    std::apply(launch->kernel, launch->arguments);
  }
};
}  // namespace cuda_host

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  const cudaError_t status = cuda_host::check_shape(*config, reinterpret_cast<const void*>(kernel));
  if (status == cudaSuccess)
    config->stream->add(cuda_host::Launch<Parameters...>{
        kernel, config->gridDim, config->blockDim, config->dynamicSmemBytes, {std::forward<Arguments>(arguments)...}});
  return status;
}
