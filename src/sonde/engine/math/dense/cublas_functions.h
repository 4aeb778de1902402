// SPDX-License-Identifier: Apache-2.0
// Private to the room: what sonde_cublas.so exports, the functions of cuBLAS that batched_cuda.cu calls.
#pragma once

#include <cublas_v2.h>

namespace sonde::dense::cuda {

struct CublasFunctions {
  decltype(&cublasCreate_v2) create;
  decltype(&cublasDestroy_v2) destroy;
  decltype(&cublasSetStream_v2) set_stream;
  decltype(&cublasSetWorkspace_v2) set_workspace;
  decltype(&cublasSetMathMode) set_math_mode;
  decltype(&cublasSgemmStridedBatched_64) multiply_f32;
  decltype(&cublasDgemmStridedBatched_64) multiply_f64;
  decltype(&cublasGetStatusString) text;
};

}  // namespace sonde::dense::cuda
