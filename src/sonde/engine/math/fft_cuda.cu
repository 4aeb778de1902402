// SPDX-License-Identifier: Apache-2.0
#include <cufft.h>

#include <string>
#include <type_traits>

#include "sonde/engine/device/cuda_check.h"
#include "sonde/engine/device/pool.h"
#include "sonde/engine/math/fft_plans.h"

namespace sonde::cuda {
namespace {

void check(cufftResult status, const char* activity) {
  if (status == CUFFT_SUCCESS) return;
  throw Error(status == CUFFT_ALLOC_FAILED ? ErrorKind::budget : ErrorKind::device,
              std::string("cuFFT: ") + activity + " failed with status " + std::to_string(static_cast<int>(status)));
}

}  // namespace

template <class Real>
FftPlans<Real>::FftPlans(const FftKey& key) : device_(key.device) {
  static_assert(std::is_same_v<cufftHandle, int>);
  check(cudaSetDevice(device_.info().ordinal), "choosing the device");
  check(cufftCreate(&handle_), "making a plan");
  try {
    // The workspace comes from the device's Pool, like all memory.
    check(cufftSetAutoAllocation(handle_, 0), "making a plan");
    long long extents[2] = {key.rows, key.cols};
    check(cufftMakePlanMany64(handle_, 2, extents, nullptr, 1, 0, nullptr, 1, 0,
                              std::is_same_v<Real, float> ? CUFFT_C2C : CUFFT_Z2Z, key.batch, &workspace_bytes_),
          "making a plan");
    workspace_ = Pool::of(device_).allocate(workspace_bytes_);
    check(cufftSetWorkArea(handle_, workspace_), "giving a plan its workspace");
  } catch (...) {
    cufftDestroy(handle_);
    Pool::of(device_).deallocate(workspace_, workspace_bytes_);
    throw;
  }
}

template <class Real>
FftPlans<Real>::~FftPlans() {
  cudaSetDevice(device_.info().ordinal);
  cufftDestroy(handle_);
  Pool::of(device_).deallocate(workspace_, workspace_bytes_);
}

template <class Real>
void FftPlans<Real>::run(Stream& stream, const std::complex<Real>* in, std::complex<Real>* out,
                         FftDirection direction) const {
  check(cufftSetStream(handle_, launch_on(stream)), "choosing the stream");
  const int sign = direction == FftDirection::forward ? CUFFT_FORWARD : CUFFT_INVERSE;
  using Element = std::conditional_t<std::is_same_v<Real, float>, cufftComplex, cufftDoubleComplex>;
  // The library's interface has no const; a complex transform out of place keeps its input.
  auto* from = reinterpret_cast<Element*>(const_cast<std::complex<Real>*>(in));
  auto* to = reinterpret_cast<Element*>(out);
  if constexpr (std::is_same_v<Real, float>)
    check(cufftExecC2C(handle_, from, to, sign), "a transform");
  else
    check(cufftExecZ2Z(handle_, from, to, sign), "a transform");
}

template class FftPlans<float>;
template class FftPlans<double>;

}  // namespace sonde::cuda
