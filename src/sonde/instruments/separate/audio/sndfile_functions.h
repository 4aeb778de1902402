// SPDX-License-Identifier: Apache-2.0
// Private to the room: what sonde_sndfile.so exports, the functions of libsndfile that are used.
#pragma once

#include <sndfile.h>

#include <memory>

namespace sonde::separate {

struct SndfileFunctions {
  decltype(&sf_open_fd) open_descriptor;
  decltype(&sf_open) open;
  decltype(&sf_close) close;
  decltype(&sf_readf_float) read;
  decltype(&sf_writef_float) write_float;
  decltype(&sf_writef_int) write_int;
  decltype(&sf_seek) seek;
  decltype(&sf_strerror) error_text;
  decltype(&sf_error) error;
  decltype(&sf_command) command;
  decltype(&sf_format_check) format_check;
};

/// Opens the library at the first call. Throws Error(not_supported) where it is not installed.
[[nodiscard]] const SndfileFunctions& sndfile();

struct CloseSndfile {
  void operator()(SNDFILE* handle) const { sndfile().close(handle); }
};
/// An open file of the library, closed when nobody has it any more: also where what is in it turns out to be wrong.
using SndfileHandle = std::unique_ptr<SNDFILE, CloseSndfile>;

}  // namespace sonde::separate
