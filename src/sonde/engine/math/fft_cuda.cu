// SPDX-License-Identifier: Apache-2.0
// cuFFT, through a module that is opened at the first plan.
#include <string>
#include <type_traits>

#include "sonde/engine/base/module.h"
#include "sonde/engine/device/cuda_check.h"
#include "sonde/engine/device/cuda_package.h"
#include "sonde/engine/device/pool.h"
#include "sonde/engine/math/cufft_functions.h"
#include "sonde/engine/math/fft_plans.h"

namespace sonde::cuda {
namespace {

void check(cufftResult status, const char* activity) {
  if (status == CUFFT_SUCCESS) return;
  throw Error(status == CUFFT_ALLOC_FAILED ? ErrorKind::budget : ErrorKind::device,
              std::string("cuFFT: ") + activity + " failed with status " + std::to_string(static_cast<int>(status)));
}

const CufftFunctions& cufft() {
  static const CufftFunctions& opened =
      functions_of<CufftFunctions>({.name = "cufft", .library = "cuFFT", .package = SONDE_CUDA_PACKAGE("libcufft")});
  return opened;
}

template <class Real>
constexpr bool single = std::is_same_v<Real, float>;

/// The library's interface has no const and its own names of elements.
template <class Real>
auto* elements(const std::complex<Real>* data) {
  using Element = std::conditional_t<single<Real>, cufftComplex, cufftDoubleComplex>;
  return reinterpret_cast<Element*>(const_cast<std::complex<Real>*>(data));
}

}  // namespace

CufftPlan::CufftPlan(Device device, const std::vector<Index>& extents, int kind, Index batch) : device_(device) {
  static_assert(std::is_same_v<cufftHandle, int>);
  check(cudaSetDevice(device_.info().ordinal), "choosing the device");
  check(cufft().create(&handle_), "making a plan");
  try {
    check(cufft().set_auto_allocation(handle_, 0), "making a plan");
    std::vector<long long> sizes(extents.begin(), extents.end());
    check(cufft().make_plan(handle_, static_cast<int>(sizes.size()), sizes.data(), nullptr, 1, 0, nullptr, 1, 0,
                            static_cast<cufftType>(kind), batch, &workspace_bytes_),
          "making a plan");
    workspace_ = Pool::of(device_).allocate(workspace_bytes_);
    check(cufft().set_work_area(handle_, workspace_), "giving a plan its workspace");
  } catch (...) {
    cufft().destroy(handle_);
    Pool::of(device_).deallocate(workspace_, workspace_bytes_);
    throw;
  }
}

CufftPlan::~CufftPlan() {
  cudaSetDevice(device_.info().ordinal);
  cufft().destroy(handle_);
  Pool::of(device_).deallocate(workspace_, workspace_bytes_);
}

int CufftPlan::handle(Stream& stream) const {
  check(cufft().set_stream(handle_, launch_on(stream)), "choosing the stream");
  return handle_;
}

template <class Real>
FftPlans<Real>::FftPlans(const FftKey& key)
    : plan_(key.device, {key.rows, key.cols}, single<Real> ? CUFFT_C2C : CUFFT_Z2Z, key.batch) {}

template <class Real>
void FftPlans<Real>::run(Stream& stream, const std::complex<Real>* in, std::complex<Real>* out,
                         FftDirection direction) const {
  const int handle = plan_.handle(stream), sign = direction == FftDirection::forward ? CUFFT_FORWARD : CUFFT_INVERSE;
  // A complex transform out of place keeps its input.
  if constexpr (single<Real>)
    check(cufft().transform_f32(handle, elements(in), elements(out), sign), "a transform");
  else
    check(cufft().transform_f64(handle, elements(in), elements(out), sign), "a transform");
}

template <class Real>
RealFftPlans<Real>::RealFftPlans(Device device, Index length, Index batch)
    : forward_(device, {length}, single<Real> ? CUFFT_R2C : CUFFT_D2Z, batch),
      inverse_(device, {length}, single<Real> ? CUFFT_C2R : CUFFT_Z2D, batch) {}

template <class Real>
void RealFftPlans<Real>::forward(Stream& stream, const Real* in, std::complex<Real>* out) const {
  // So does one of real numbers.
  if constexpr (single<Real>)
    check(cufft().real_forward_f32(forward_.handle(stream), const_cast<Real*>(in), elements(out)), "a transform");
  else
    check(cufft().real_forward_f64(forward_.handle(stream), const_cast<Real*>(in), elements(out)), "a transform");
}

template <class Real>
void RealFftPlans<Real>::inverse(Stream& stream, std::complex<Real>* in, Real* out) const {
  if constexpr (single<Real>)
    check(cufft().real_inverse_f32(inverse_.handle(stream), elements(in), out), "a transform");
  else
    check(cufft().real_inverse_f64(inverse_.handle(stream), elements(in), out), "a transform");
}

template class FftPlans<float>;
template class FftPlans<double>;
template class RealFftPlans<float>;
template class RealFftPlans<double>;

}  // namespace sonde::cuda
