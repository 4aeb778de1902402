// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Marks a function that kernels may call too; nothing for a compiler that knows no kernels.
#ifdef __CUDACC__
#define SONDE_HOST_DEVICE __host__ __device__
#else
#define SONDE_HOST_DEVICE
#endif
