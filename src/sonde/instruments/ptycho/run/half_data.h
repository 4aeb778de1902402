// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/ptycho/quality/ring_correlation.h"
#include "sonde/instruments/ptycho/run/job.h"

namespace sonde::ptycho {

/// Two halves that share no frame: every second of `frames`. On a raster with lines of `line` frames neighbours along
/// both axes belong to different halves, as on a chessboard.
[[nodiscard]] std::array<std::vector<Index>, 2> halves(const std::vector<Index>& frames, std::optional<Index> line);

/// Reconstructs both halves of the frames that were fitted, each with the schedule and from the start of the whole, and
/// correlates the objects ring by ring in the field of view after the second was aligned to the first. Both
/// start from one probe and one grid: what those bring is counted as resolved (docs/ptycho-reference.md). Throws
/// Error(not_converged) when a half diverges, and what iterating throws. Costs about as much as the whole once more.
[[nodiscard]] RingCorrelation half_data_correlation(const Job& job, const RunFile& run,
                                                    const std::vector<Index>& frames, std::optional<Index> line);

}  // namespace sonde::ptycho
