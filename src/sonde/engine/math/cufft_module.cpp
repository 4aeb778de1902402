// SPDX-License-Identifier: Apache-2.0
// sonde_cufft.so: the one object that is linked to cuFFT.
#include "sonde/engine/base/module.h"
#include "sonde/engine/math/cufft_functions.h"

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
