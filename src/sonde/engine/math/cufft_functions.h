// SPDX-License-Identifier: Apache-2.0
// Private to the room: what sonde_cufft.so exports, the functions of cuFFT that fft_cuda.cu calls.
#pragma once

#include <cufft.h>

namespace sonde::cuda {

struct CufftFunctions {
  decltype(&cufftCreate) create;
  decltype(&cufftDestroy) destroy;
  decltype(&cufftSetAutoAllocation) set_auto_allocation;
  decltype(&cufftMakePlanMany64) make_plan;
  decltype(&cufftSetWorkArea) set_work_area;
  decltype(&cufftSetStream) set_stream;
  decltype(&cufftExecC2C) transform_f32;
  decltype(&cufftExecZ2Z) transform_f64;
  decltype(&cufftExecR2C) real_forward_f32;
  decltype(&cufftExecD2Z) real_forward_f64;
  decltype(&cufftExecC2R) real_inverse_f32;
  decltype(&cufftExecZ2D) real_inverse_f64;
};

}  // namespace sonde::cuda
