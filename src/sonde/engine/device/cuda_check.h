// SPDX-License-Identifier: Apache-2.0
// For .cu files only.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/stream.h"

namespace sonde::cuda {

inline void check(cudaError_t status, const char* activity) {
  if (status == cudaSuccess) return;
  throw Error(status == cudaErrorMemoryAllocation ? ErrorKind::budget : ErrorKind::device,
              std::string("CUDA: ") + activity + ": " + cudaGetErrorString(status));
}

/// The queue of a GPU's stream for a kernel launch. A launch goes to the device that the calling thread has chosen,
/// which in a new thread is the first one: this chooses the stream's.
inline cudaStream_t launch_on(const Stream& stream) {
  check(cudaSetDevice(stream.device().info().ordinal), "choosing the device");
  return static_cast<cudaStream_t>(stream.handle());
}

/// After every kernel launch.
inline void check_launch(const char* kernel) { check(cudaGetLastError(), kernel); }

}  // namespace sonde::cuda
