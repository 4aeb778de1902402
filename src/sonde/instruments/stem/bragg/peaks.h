// SPDX-License-Identifier: Apache-2.0
// Private to the room: the maxima of a correlation and their filters.
#pragma once

#include <cstdint>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/stem/bragg/bragg_plan.h"

namespace sonde::stem {

/// A maximum of a correlation at a pixel.
struct Peak {
  float value = 0;
  Index row = 0, col = 0;
};

struct PeakRooms {
  std::vector<std::uint8_t> flags;
  std::vector<Peak> peaks, kept;
};

/// The peaks of a correlation (rows, cols) that pass the filters, the brightest first (equal ones by row, then column),
/// in `rooms.kept`. Adds to `counts`.
void find_peaks(const float* correlation, Index rows, Index cols, const DiskSettings& settings, PeakRooms& rooms,
                FilterCounts& counts);

}  // namespace sonde::stem
