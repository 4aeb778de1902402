// SPDX-License-Identifier: Apache-2.0
// The part of cuFFT's interface that sonde uses; ../cufft_module.cpp computes it by FFTW.
#pragma once

#include <cstddef>

#include "cuda_runtime.h"

using cufftHandle = int;
enum cufftResult { CUFFT_SUCCESS = 0, CUFFT_INVALID_PLAN = 1, CUFFT_ALLOC_FAILED = 2, CUFFT_INVALID_VALUE = 4 };
enum cufftType {
  CUFFT_R2C = 0x2a,
  CUFFT_C2R = 0x2c,
  CUFFT_C2C = 0x29,
  CUFFT_D2Z = 0x6a,
  CUFFT_Z2D = 0x6c,
  CUFFT_Z2Z = 0x69
};
inline constexpr int CUFFT_FORWARD = -1, CUFFT_INVERSE = 1;
using cufftReal = float;
using cufftDoubleReal = double;
struct cufftComplex {
  float x, y;
};
struct cufftDoubleComplex {
  double x, y;
};

cufftResult cufftCreate(cufftHandle* plan);
cufftResult cufftDestroy(cufftHandle plan);
cufftResult cufftSetAutoAllocation(cufftHandle plan, int automatic);
cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long* extents, long long* in_embedded,
                                long long in_stride, long long in_distance, long long* out_embedded,
                                long long out_stride, long long out_distance, cufftType type, long long batch,
                                std::size_t* workspace_bytes);
cufftResult cufftSetWorkArea(cufftHandle plan, void* workspace);
cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream);
cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* in, cufftComplex* out, int direction);
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleComplex* out, int direction);
cufftResult cufftExecR2C(cufftHandle plan, cufftReal* in, cufftComplex* out);
cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* in, cufftDoubleComplex* out);
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* in, cufftReal* out);
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleReal* out);
