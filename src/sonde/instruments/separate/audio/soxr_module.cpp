// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/base/module.h"
#include "sonde/instruments/separate/audio/soxr_functions.h"

namespace {

constexpr sonde::separate::SoxrFunctions functions = {
    .create = soxr_create,
    .process = soxr_process,
    .destroy = soxr_delete,
    .quality = soxr_quality_spec,
    .layout = soxr_io_spec,
    .runtime = soxr_runtime_spec,
};

}  // namespace

SONDE_MODULE(functions);
