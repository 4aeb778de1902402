// SPDX-License-Identifier: Apache-2.0
// cuBLAS, through a module that is opened when it is first needed, and the kernels of batched_device.h.
#include <string>

#include "sonde/engine/base/module.h"
#include "sonde/engine/device/cuda_check.h"
#include "sonde/engine/device/cuda_package.h"
#include "sonde/engine/math/dense/batched_device.h"
#include "sonde/engine/math/dense/batched_products.h"
#include "sonde/engine/math/dense/cublas_functions.h"

namespace sonde::cuda {

#define SONDE_RUN(Body) template void run_body(Stream&, const LaunchSize&, const dense::device::Body&)
SONDE_RUN(Combine);
SONDE_RUN(AddToDiagonal);
SONDE_RUN(FactoriseAndInvert);

}  // namespace sonde::cuda

namespace sonde::dense::cuda {
namespace {

const CublasFunctions& cublas() {
  static const CublasFunctions& opened = functions_of<CublasFunctions>(
      {.name = "cublas", .library = "cuBLAS", .package = SONDE_CUDA_PACKAGE("libcublas")});
  return opened;
}

void check(cublasStatus_t status, const char* activity) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(status == CUBLAS_STATUS_ALLOC_FAILED ? ErrorKind::budget : ErrorKind::device,
              std::string("cuBLAS: ") + activity + ": " + cublas().text(status));
}

cublasOperation_t operation(Form form) { return form == Form::plain ? CUBLAS_OP_N : CUBLAS_OP_T; }

template <class T, class Multiply>
void product(Multiply multiply, void* products, T alpha, View<const T, 3> a, Form form_a, View<const T, 3> b,
             Form form_b, T beta, View<T, 3> c) {
  const ByColumns<T> p = by_columns<T>(a, form_a, b, form_b, c);
  check(multiply(static_cast<cublasHandle_t>(products), operation(p.first.form), operation(p.second.form), p.rows,
                 p.columns, p.inner, &alpha, p.first.data, p.first.step, p.first.problem_step, p.second.data,
                 p.second.step, p.second.problem_step, &beta, c.data, p.step, p.problem_step, c.extent[0]),
        "a product");
}

}  // namespace

void* create_products(Stream& stream, void* workspace, FloatProducts float_products) {
  const cudaStream_t queue = sonde::cuda::launch_on(stream);
  const CublasFunctions& library = cublas();
  cublasHandle_t handle = nullptr;
  check(library.create(&handle), "beginning");
  try {
    check(library.set_stream(handle, queue), "choosing the stream");
    check(library.set_math_mode(
              handle, float_products == FloatProducts::tf32 ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_DEFAULT_MATH),
          "choosing the precision");
    check(library.set_workspace(handle, workspace, workspace_bytes), "giving it its workspace");  // after the stream
  } catch (...) {
    library.destroy(handle);
    throw;
  }
  return handle;
}

void destroy_products(Device device, void* products) noexcept {
  cudaSetDevice(device.info().ordinal);
  cublas().destroy(static_cast<cublasHandle_t>(products));
}

void multiply(void* products, double alpha, ConstBatch a, Form form_a, ConstBatch b, Form form_b, double beta,
              Batch c) {
  product(cublas().multiply_f64, products, alpha, a, form_a, b, form_b, beta, c);
}

void multiply(void* products, float alpha, View<const float, 3> a, Form form_a, View<const float, 3> b, Form form_b,
              float beta, View<float, 3> c) {
  product(cublas().multiply_f32, products, alpha, a, form_a, b, form_b, beta, c);
}

}  // namespace sonde::dense::cuda
