// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/device/stream.h"

/// Calls cpu::operation(...) or cuda::operation(stream, ...), after the stream's device. The only dispatch: without
/// CUDA nothing refers to the cuda:: version.
#define SONDE_DISPATCH(stream, operation, ...)  \
  do {                                          \
    if constexpr (::sonde::built_with_cuda) {   \
      if (!(stream).device().is_cpu()) {        \
        cuda::operation((stream), __VA_ARGS__); \
        break;                                  \
      }                                         \
    }                                           \
    cpu::operation(__VA_ARGS__);                \
  } while (false)
