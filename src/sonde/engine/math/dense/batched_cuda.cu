// SPDX-License-Identifier: Apache-2.0
// cuBLAS, loaded by name when it is first needed, and the kernels of batched_device.h.
#include <cublas_v2.h>
#include <dlfcn.h>

#include <string>
#include <type_traits>

#include "sonde/engine/device/cuda_check.h"
#include "sonde/engine/math/dense/batched_device.h"
#include "sonde/engine/math/dense/batched_products.h"

namespace sonde::cuda {

#define SONDE_RUN(Body) template void run_body(Stream&, const LaunchSize&, const dense::device::Body&)
SONDE_RUN(Combine);
SONDE_RUN(AddToDiagonal);
SONDE_RUN(FactoriseAndInvert);

}  // namespace sonde::cuda

namespace sonde::dense::cuda {
namespace {

/// The functions of the library that are called.
struct Cublas {
  decltype(&cublasCreate_v2) create;
  decltype(&cublasDestroy_v2) destroy;
  decltype(&cublasSetStream_v2) set_stream;
  decltype(&cublasSetWorkspace_v2) set_workspace;
  decltype(&cublasDgemmStridedBatched_64) multiply;
  decltype(&cublasGetStatusString) text;

  static const Cublas& get() {
    static const Cublas loaded = load();
    return loaded;
  }

 private:
  static Cublas load() {
    const std::string name = "libcublas.so." + std::to_string(CUBLAS_VER_MAJOR);
    void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr)
      throw Error(ErrorKind::device, name + " cannot be loaded: " + dlerror())
          .hint("it is part of the CUDA toolkit; LD_LIBRARY_PATH says where it lies");
    const auto take = [&](auto& function, const char* symbol) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, symbol));
      if (function == nullptr) throw Error(ErrorKind::device, name + " has no function " + symbol);
    };
    Cublas made{};
    take(made.create, "cublasCreate_v2");
    take(made.destroy, "cublasDestroy_v2");
    take(made.set_stream, "cublasSetStream_v2");
    take(made.set_workspace, "cublasSetWorkspace_v2");
    take(made.multiply, "cublasDgemmStridedBatched_64");
    take(made.text, "cublasGetStatusString");
    return made;
  }
};

void check(cublasStatus_t status, const char* activity) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(status == CUBLAS_STATUS_ALLOC_FAILED ? ErrorKind::budget : ErrorKind::device,
              std::string("cuBLAS: ") + activity + ": " + Cublas::get().text(status));
}

cublasOperation_t operation(Form form) { return form == Form::plain ? CUBLAS_OP_N : CUBLAS_OP_T; }

}  // namespace

void* create_products(Stream& stream, void* workspace) {
  const cudaStream_t queue = sonde::cuda::launch_on(stream);
  const Cublas& library = Cublas::get();
  cublasHandle_t handle = nullptr;
  check(library.create(&handle), "beginning");
  try {
    check(library.set_stream(handle, queue), "choosing the stream");
    check(library.set_workspace(handle, workspace, workspace_bytes), "giving it its workspace");  // after the stream
  } catch (...) {
    library.destroy(handle);
    throw;
  }
  return handle;
}

void destroy_products(Device device, void* products) noexcept {
  cudaSetDevice(device.info().ordinal);
  Cublas::get().destroy(static_cast<cublasHandle_t>(products));
}

void multiply(void* products, double alpha, ConstBatch a, Form form_a, ConstBatch b, Form form_b, double beta,
              Batch c) {
  const ByColumns p = by_columns(a, form_a, b, form_b, c);
  check(Cublas::get().multiply(static_cast<cublasHandle_t>(products), operation(p.first.form), operation(p.second.form),
                               p.rows, p.columns, p.inner, &alpha, p.first.data, p.first.step, p.first.problem_step,
                               p.second.data, p.second.step, p.second.problem_step, &beta, c.data, p.step,
                               p.problem_step, c.extent[0]),
        "a product");
}

}  // namespace sonde::dense::cuda
