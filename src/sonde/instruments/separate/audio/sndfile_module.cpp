// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/base/module.h"
#include "sonde/instruments/separate/audio/sndfile_functions.h"

namespace {

constexpr sonde::separate::SndfileFunctions functions = {
    .open_descriptor = sf_open_fd,
    .open = sf_open,
    .close = sf_close,
    .read = sf_readf_float,
    .write_float = sf_writef_float,
    .write_int = sf_writef_int,
    .seek = sf_seek,
    .error_text = sf_strerror,
    .error = sf_error,
    .command = sf_command,
    .format_check = sf_format_check,
};

}  // namespace

SONDE_MODULE(functions);
