// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sonde/engine/math/least_curl.h"
#include "sonde/instruments/ptycho/model/measurement.h"
#include "sonde/instruments/ptycho/scan/positions.h"

namespace sonde::ptycho {

/// The mean direction of the counts of every frame, in detector pixels from the zero frequency (rows, columns), over
/// measured pixels; 0 for frames without a count.
[[nodiscard]] std::vector<Point> centres_of_mass(const Measurement& measurement);

/// least_curl() of the engine with positions in the sense of Raster.
[[nodiscard]] LeastCurl least_curl(std::span<const Point> nominal, std::span<const Point> deflections, bool transpose);

}  // namespace sonde::ptycho
