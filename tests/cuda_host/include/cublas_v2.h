// SPDX-License-Identifier: Apache-2.0
// The part of cuBLAS's interface that sonde uses; ../cublas_module.cpp computes it by the BLAS of the CPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda_runtime.h"

using cublasHandle_t = struct cublasContext*;
enum cublasStatus_t { CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_ALLOC_FAILED = 3, CUBLAS_STATUS_INVALID_VALUE = 7 };
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 };
enum cublasMath_t { CUBLAS_DEFAULT_MATH = 0, CUBLAS_TF32_TENSOR_OP_MATH = 3 };

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle);
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, std::size_t bytes);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasSgemmStridedBatched_64(cublasHandle_t handle, cublasOperation_t form_a, cublasOperation_t form_b,
                                            std::int64_t m, std::int64_t n, std::int64_t k, const float* alpha,
                                            const float* a, std::int64_t step_a, long long int problem_step_a,
                                            const float* b, std::int64_t step_b, long long int problem_step_b,
                                            const float* beta, float* c, std::int64_t step_c,
                                            long long int problem_step_c, std::int64_t count);
cublasStatus_t cublasDgemmStridedBatched_64(cublasHandle_t handle, cublasOperation_t form_a, cublasOperation_t form_b,
                                            std::int64_t m, std::int64_t n, std::int64_t k, const double* alpha,
                                            const double* a, std::int64_t step_a, long long int problem_step_a,
                                            const double* b, std::int64_t step_b, long long int problem_step_b,
                                            const double* beta, double* c, std::int64_t step_c,
                                            long long int problem_step_c, std::int64_t count);
const char* cublasGetStatusString(cublasStatus_t status);
