// SPDX-License-Identifier: Apache-2.0
// sonde_cublas.so: the one object that is linked to cuBLAS.
#include "sonde/engine/base/module.h"
#include "sonde/engine/math/dense/cublas_functions.h"

namespace {
constexpr sonde::dense::cuda::CublasFunctions functions = {
    .create = cublasCreate_v2,
    .destroy = cublasDestroy_v2,
    .set_stream = cublasSetStream_v2,
    .set_workspace = cublasSetWorkspace_v2,
    .set_math_mode = cublasSetMathMode,
    .multiply_f32 = cublasSgemmStridedBatched_64,
    .multiply_f64 = cublasDgemmStridedBatched_64,
    .text = cublasGetStatusString,
};
}  // namespace

SONDE_MODULE(functions);
