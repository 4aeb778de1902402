// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sonde/engine/array/array.h"
#include "sonde/engine/base/choice.h"
#include "sonde/engine/device/stream.h"
#include "sonde/instruments/stem/layout/resident.h"
#include "sonde/instruments/stem/pass/pass.h"
#include "sonde/instruments/stem/pass/resident_elements.h"

namespace sonde::stem {

/// What the pass of a load found: cleaning, moments and statistics on the resident grids, resident elements.
struct LoadResult {
  PassResult pass;
  Moments moments;
  bool overflow = false;  ///< as in ResidentElements
  std::uint64_t clipped = 0;
  LedgerSum clipped_counts;
};

/// The operations of a load in one pass: moments, pattern statistics, resident elements. They go into `destination`
/// (made by make_frames or make_planes with type `out`; ignored for Destination::none), which is on the stream's
/// device, and so are the sums then; pass_way says how. Moments and all else come back to the host. Operations of
/// `beside` see the same frames, on the host.
[[nodiscard]] LoadResult run_load_pass(Stream& stream, Source& source, const PassSettings& settings,
                                       const ResidentSettings& resident, Array& destination,
                                       std::span<Operation* const> beside = {});
/// Which processor decodes and sums in such a pass, and why: what a GPU has no kernels for is done by the CPU and
/// copied.
[[nodiscard]] Choice<std::string> pass_way(Device device, const Source& source, const PassSettings& settings,
                                           std::span<Operation* const> beside = {});

/// Only the elements, into frames of host memory.
void decode_frames(Source& source, PassSettings settings, ResidentSettings resident, Array& frames);
/// Only moments and pattern statistics.
[[nodiscard]] Moments sum_frames(Source& source, PassSettings settings);

/// Bytes that run_load_pass holds on the host besides the destination.
[[nodiscard]] std::size_t load_pass_bytes(const PassSettings& settings, const ResidentSettings& resident, DType stored,
                                          std::size_t largest_batch_bytes, std::size_t scan_bytes, int workers);

}  // namespace sonde::stem
