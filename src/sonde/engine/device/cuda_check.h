// SPDX-License-Identifier: Apache-2.0
// For .cu files only.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "sonde/engine/base/error.h"

namespace sonde::cuda {

inline void check(cudaError_t status, const char* activity) {
  if (status == cudaSuccess) return;
  throw Error(status == cudaErrorMemoryAllocation ? ErrorKind::budget : ErrorKind::device,
              std::string("CUDA: ") + activity + ": " + cudaGetErrorString(status));
}

/// After every kernel launch.
inline void check_launch(const char* kernel) { check(cudaGetLastError(), kernel); }

}  // namespace sonde::cuda
