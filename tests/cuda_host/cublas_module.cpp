// SPDX-License-Identifier: Apache-2.0
// sonde_cublas.so of the stand-in: cuBLAS's functions, computed by the BLAS of the CPU when the stream comes to them.
#include <cblas.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "cublas_v2.h"
#include "sonde/engine/base/module.h"
#include "sonde/engine/math/dense/cublas_functions.h"

struct cublasContext {
  cudaStream_t stream = nullptr;
  void* workspace = nullptr;
  cublasMath_t mode = CUBLAS_DEFAULT_MATH;
};

namespace {

CBLAS_TRANSPOSE form(cublasOperation_t of) { return of == CUBLAS_OP_N ? CblasNoTrans : CblasTrans; }

/// A matrix of a product as the matrix units of a GPU see it: 10 bits of the fraction, to nearest.
std::vector<float> in_tf32(cublasOperation_t form, const float* from, std::int64_t rows, std::int64_t columns,
                           std::int64_t step) {
  if (form == CUBLAS_OP_T) std::swap(rows, columns);
  std::vector<float> rounded(static_cast<std::size_t>(step * std::max(columns, std::int64_t{1})));
  for (std::int64_t i = 0; i < columns; ++i) {
    for (std::int64_t j = 0; j < rows; ++j) {
      const auto bits = std::bit_cast<std::uint32_t>(from[i * step + j]);
      rounded[static_cast<std::size_t>(i * step + j)] = std::bit_cast<float>((bits + 0x1000u) & 0xffffe000u);
    }
  }
  return rounded;
}

}  // namespace

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  handle->workspace = nullptr;  // as cuBLAS does
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, std::size_t /*bytes*/) {
  handle->workspace = workspace;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  handle->mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSgemmStridedBatched_64(cublasHandle_t handle, cublasOperation_t form_a, cublasOperation_t form_b,
                                            std::int64_t m, std::int64_t n, std::int64_t k, const float* alpha,
                                            const float* a, std::int64_t step_a, long long int problem_step_a,
                                            const float* b, std::int64_t step_b, long long int problem_step_b,
                                            const float* beta, float* c, std::int64_t step_c,
                                            long long int problem_step_c, std::int64_t count) {
  if (handle->stream == nullptr || handle->workspace == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  handle->stream->add([=, tf32 = handle->mode == CUBLAS_TF32_TENSOR_OP_MATH, alpha = *alpha, beta = *beta] {
    for (std::int64_t i = 0; i < count; ++i) {
      const float *of_a = a + i * problem_step_a, *of_b = b + i * problem_step_b;
      std::vector<float> rounded_a, rounded_b;
      if (tf32) {
        rounded_a = in_tf32(form_a, of_a, m, k, step_a), rounded_b = in_tf32(form_b, of_b, k, n, step_b);
        of_a = rounded_a.data(), of_b = rounded_b.data();
      }
      cblas_sgemm(CblasColMajor, form(form_a), form(form_b), static_cast<int>(m), static_cast<int>(n),
                  static_cast<int>(k), alpha, of_a, static_cast<int>(step_a), of_b, static_cast<int>(step_b), beta,
                  c + i * problem_step_c, static_cast<int>(step_c));
    }
  });
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDgemmStridedBatched_64(cublasHandle_t handle, cublasOperation_t form_a, cublasOperation_t form_b,
                                            std::int64_t m, std::int64_t n, std::int64_t k, const double* alpha,
                                            const double* a, std::int64_t step_a, long long int problem_step_a,
                                            const double* b, std::int64_t step_b, long long int problem_step_b,
                                            const double* beta, double* c, std::int64_t step_c,
                                            long long int problem_step_c, std::int64_t count) {
  // cuBLAS allocates memory by itself where it was given none, and is then another one from run to run.
  if (handle->stream == nullptr || handle->workspace == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  handle->stream->add([=, alpha = *alpha, beta = *beta] {
    for (std::int64_t i = 0; i < count; ++i)
      cblas_dgemm(CblasColMajor, form(form_a), form(form_b), static_cast<int>(m), static_cast<int>(n),
                  static_cast<int>(k), alpha, a + i * problem_step_a, static_cast<int>(step_a), b + i * problem_step_b,
                  static_cast<int>(step_b), beta, c + i * problem_step_c, static_cast<int>(step_c));
  });
  return CUBLAS_STATUS_SUCCESS;
}

const char* cublasGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS        ? "success"
         : status == CUBLAS_STATUS_ALLOC_FAILED ? "out of memory"
                                                : "invalid value";
}

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
