// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "sonde/engine/io/file.h"
#include "sonde/instruments/stem/read/source.h"

namespace sonde::stem {

/// A scan stored detector pixel by detector pixel: for each pixel, in the order of a frame, the values of all scan
/// positions. Reading gathers frames: one request to the system per pixel and run of frames, then a transposition on
/// all workers. set_cache_bytes() makes the runs longer than a batch; with nothing to hold they are read batch by
/// batch. `offset` is that of the first value; the caller has checked that all values lie inside the file.
[[nodiscard]] std::unique_ptr<Source> plane_source(Acquisition acquisition, File file, std::uint64_t offset,
                                                   bool big_endian);

}  // namespace sonde::stem
