// SPDX-License-Identifier: Apache-2.0
// Private to the room: what sonde_soxr.so exports, the functions of the SoX Resampler library that are used.
#pragma once

#include <soxr.h>

namespace sonde::separate {

struct SoxrFunctions {
  decltype(&soxr_create) create;
  decltype(&soxr_process) process;
  decltype(&soxr_delete) destroy;
  decltype(&soxr_quality_spec) quality;
  decltype(&soxr_io_spec) layout;
  decltype(&soxr_runtime_spec) runtime;
};

}  // namespace sonde::separate
