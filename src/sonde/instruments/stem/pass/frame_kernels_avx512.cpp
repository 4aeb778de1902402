// SPDX-License-Identifier: Apache-2.0
#define SONDE_LEVEL avx512
#include "sonde/instruments/stem/pass/frame_kernels_body.h"
