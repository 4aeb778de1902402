// SPDX-License-Identifier: Apache-2.0
// For .cu files only.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <string>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/stream.h"

namespace sonde::cuda {

inline void check(cudaError_t status, const char* activity) {
  if (status == cudaSuccess) return;
  throw Error(status == cudaErrorMemoryAllocation ? ErrorKind::budget : ErrorKind::device,
              std::string("CUDA: ") + activity + ": " + cudaGetErrorString(status));
}

/// The queue of a GPU's stream for a launch or a library's call. Either goes to the device that the calling thread has
/// chosen, which in a new thread is the first one: this chooses the stream's.
inline cudaStream_t launch_on(const Stream& stream) {
  check(cudaSetDevice(stream.device().info().ordinal), "choosing the device");
  return static_cast<cudaStream_t>(stream.handle());
}

/// Thread blocks and their dynamic shared memory.
struct LaunchShape {
  dim3 blocks, threads;
  std::size_t shared_bytes = 0;
};

/// Queues kernel(arguments...) to the stream; `name` stands in messages. A function, where CUDA has <<<...>>>: so these
/// files are C++ to every compiler.
template <class... Parameters, class... Arguments>
void launch_kernel(const Stream& stream, const char* name, const LaunchShape& shape, void (*kernel)(Parameters...),
                   Arguments&&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = shape.blocks;
  config.blockDim = shape.threads;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = launch_on(stream);
  check(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...), name);
}

}  // namespace sonde::cuda
