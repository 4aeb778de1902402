// SPDX-License-Identifier: Apache-2.0
// sonde_cufft.so of the stand-in: cuFFT's functions, computed by FFTW when the stream comes to them.
#include <fftw3.h>

#include <cstddef>
#include <map>
#include <mutex>
#include <numeric>
#include <vector>

#include "cufft.h"
#include "sonde/engine/base/module.h"
#include "sonde/engine/math/cufft_functions.h"

namespace {

struct Plan {
  std::vector<int> extents;
  long long batch = 0;
  cufftType type = CUFFT_C2C;
  void* workspace = nullptr;
  cudaStream_t stream = nullptr;

  [[nodiscard]] int rank() const { return static_cast<int>(extents.size()); }
  /// Of one transform, in real space and as a half of the frequencies.
  [[nodiscard]] std::size_t count() const {
    return std::accumulate(extents.begin(), extents.end(), std::size_t{1},
                           [](std::size_t product, int n) { return product * static_cast<std::size_t>(n); });
  }
  [[nodiscard]] std::size_t half_count() const {
    return count() / static_cast<std::size_t>(extents.back()) * static_cast<std::size_t>(extents.back() / 2 + 1);
  }
};

std::mutex mutex;
std::map<cufftHandle, Plan> plans;

/// As large as all data, and overwritten: a workspace that is not given, too small or used elsewhere is noticed.
std::size_t workspace_bytes(const Plan& plan) { return plan.count() * static_cast<std::size_t>(plan.batch) * 16; }

/// run(i) for all transforms of the batch, when no other plan is made: FFTW's planner serves one at a time.
template <class Prepare, class Execute, class Destroy>
void for_batch(const Plan& plan, Prepare prepare, Execute execute, Destroy destroy) {
  static std::mutex planner;
  const std::lock_guard lock(planner);
  const auto ready = prepare();
  for (long long i = 0; i < plan.batch; ++i) execute(ready, static_cast<std::size_t>(i));
  destroy(ready);
  __builtin_memset(plan.workspace, 0xff, workspace_bytes(plan));
}

constexpr unsigned how = FFTW_ESTIMATE | FFTW_UNALIGNED;

void complex_transform(const Plan& plan, fftwf_complex* in, fftwf_complex* out, int direction) {
  const std::size_t n = plan.count();
  for_batch(
      plan, [&] { return fftwf_plan_dft(plan.rank(), plan.extents.data(), out, out, direction, how); },
      [&](fftwf_plan ready, std::size_t i) {
        if (in != out) __builtin_memcpy(out + i * n, in + i * n, n * sizeof *in);
        fftwf_execute_dft(ready, out + i * n, out + i * n);
      },
      fftwf_destroy_plan);
}

void complex_transform(const Plan& plan, fftw_complex* in, fftw_complex* out, int direction) {
  const std::size_t n = plan.count();
  for_batch(
      plan, [&] { return fftw_plan_dft(plan.rank(), plan.extents.data(), out, out, direction, how); },
      [&](fftw_plan ready, std::size_t i) {
        if (in != out) __builtin_memcpy(out + i * n, in + i * n, n * sizeof *in);
        fftw_execute_dft(ready, out + i * n, out + i * n);
      },
      fftw_destroy_plan);
}

// Transforms of real numbers keep their input; back to real numbers, the library may destroy it, and this one does.
void real_forward(const Plan& plan, float* in, fftwf_complex* out) {
  for_batch(
      plan, [&] { return fftwf_plan_dft_r2c(plan.rank(), plan.extents.data(), in, out, how | FFTW_PRESERVE_INPUT); },
      [&](fftwf_plan ready, std::size_t i) {
        fftwf_execute_dft_r2c(ready, in + i * plan.count(), out + i * plan.half_count());
      },
      fftwf_destroy_plan);
}

void real_forward(const Plan& plan, double* in, fftw_complex* out) {
  for_batch(
      plan, [&] { return fftw_plan_dft_r2c(plan.rank(), plan.extents.data(), in, out, how | FFTW_PRESERVE_INPUT); },
      [&](fftw_plan ready, std::size_t i) {
        fftw_execute_dft_r2c(ready, in + i * plan.count(), out + i * plan.half_count());
      },
      fftw_destroy_plan);
}

void real_inverse(const Plan& plan, fftwf_complex* in, float* out) {
  for_batch(
      plan, [&] { return fftwf_plan_dft_c2r(plan.rank(), plan.extents.data(), in, out, how | FFTW_DESTROY_INPUT); },
      [&](fftwf_plan ready, std::size_t i) {
        fftwf_execute_dft_c2r(ready, in + i * plan.half_count(), out + i * plan.count());
        __builtin_memset(in + i * plan.half_count(), 0xff, plan.half_count() * sizeof *in);
      },
      fftwf_destroy_plan);
}

void real_inverse(const Plan& plan, fftw_complex* in, double* out) {
  for_batch(
      plan, [&] { return fftw_plan_dft_c2r(plan.rank(), plan.extents.data(), in, out, how | FFTW_DESTROY_INPUT); },
      [&](fftw_plan ready, std::size_t i) {
        fftw_execute_dft_c2r(ready, in + i * plan.half_count(), out + i * plan.count());
        __builtin_memset(in + i * plan.half_count(), 0xff, plan.half_count() * sizeof *in);
      },
      fftw_destroy_plan);
}

/// Queues transform(plan), when the plan can be used.
template <class Transform>
cufftResult queue(cufftHandle handle, cufftType type, Transform transform) {
  const std::lock_guard lock(mutex);
  const auto found = plans.find(handle);
  if (found == plans.end() || found->second.stream == nullptr || found->second.workspace == nullptr ||
      found->second.type != type)
    return CUFFT_INVALID_PLAN;
  found->second.stream->add([plan = found->second, transform] { transform(plan); });
  return CUFFT_SUCCESS;
}

fftwf_complex* numbers(cufftComplex* data) { return reinterpret_cast<fftwf_complex*>(data); }
fftw_complex* numbers(cufftDoubleComplex* data) { return reinterpret_cast<fftw_complex*>(data); }

}  // namespace

cufftResult cufftCreate(cufftHandle* plan) {
  static cufftHandle next = 0;
  const std::lock_guard lock(mutex);
  *plan = ++next;
  plans[*plan] = {};
  return CUFFT_SUCCESS;
}

cufftResult cufftDestroy(cufftHandle plan) {
  const std::lock_guard lock(mutex);
  return plans.erase(plan) == 1 ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

cufftResult cufftSetAutoAllocation(cufftHandle /*plan*/, int automatic) {
  return automatic == 0 ? CUFFT_SUCCESS : CUFFT_INVALID_VALUE;
}

cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long* extents, long long* in_embedded,
                                long long /*in_stride*/, long long /*in_distance*/, long long* out_embedded,
                                long long /*out_stride*/, long long /*out_distance*/, cufftType type, long long batch,
                                std::size_t* bytes) {
  const std::lock_guard lock(mutex);
  if (rank < 1 || rank > 3 || in_embedded != nullptr || out_embedded != nullptr || batch < 1)
    return CUFFT_INVALID_VALUE;
  Plan& made = plans[plan];
  made.extents.assign(extents, extents + rank);
  made.batch = batch;
  made.type = type;
  *bytes = workspace_bytes(made);
  return CUFFT_SUCCESS;
}

cufftResult cufftSetWorkArea(cufftHandle plan, void* workspace) {
  const std::lock_guard lock(mutex);
  plans[plan].workspace = workspace;
  return CUFFT_SUCCESS;
}

cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream) {
  const std::lock_guard lock(mutex);
  plans[plan].stream = stream;
  return CUFFT_SUCCESS;
}

cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* in, cufftComplex* out, int direction) {
  return queue(plan, CUFFT_C2C, [=](const Plan& of) { complex_transform(of, numbers(in), numbers(out), direction); });
}
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleComplex* out, int direction) {
  return queue(plan, CUFFT_Z2Z, [=](const Plan& of) { complex_transform(of, numbers(in), numbers(out), direction); });
}
cufftResult cufftExecR2C(cufftHandle plan, cufftReal* in, cufftComplex* out) {
  return queue(plan, CUFFT_R2C, [=](const Plan& of) { real_forward(of, in, numbers(out)); });
}
cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* in, cufftDoubleComplex* out) {
  return queue(plan, CUFFT_D2Z, [=](const Plan& of) { real_forward(of, in, numbers(out)); });
}
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* in, cufftReal* out) {
  return queue(plan, CUFFT_C2R, [=](const Plan& of) { real_inverse(of, numbers(in), out); });
}
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleReal* out) {
  return queue(plan, CUFFT_Z2D, [=](const Plan& of) { real_inverse(of, numbers(in), out); });
}

namespace {
constexpr sonde::cuda::CufftFunctions functions = {
    .create = cufftCreate,
    .destroy = cufftDestroy,
    .set_auto_allocation = cufftSetAutoAllocation,
    .make_plan = cufftMakePlanMany64,
    .set_work_area = cufftSetWorkArea,
    .set_stream = cufftSetStream,
    .transform_f32 = cufftExecC2C,
    .transform_f64 = cufftExecZ2Z,
    .real_forward_f32 = cufftExecR2C,
    .real_forward_f64 = cufftExecD2Z,
    .real_inverse_f32 = cufftExecC2R,
    .real_inverse_f64 = cufftExecZ2D,
};
}  // namespace

SONDE_MODULE(functions);
