// SPDX-License-Identifier: Apache-2.0
// What a person reads about a scan, line by line, the most important facts first.
#pragma once

#include <string>
#include <vector>

#include "sonde/instruments/stem/load/dataset.h"
#include "sonde/instruments/stem/read/acquisition.h"

namespace sonde::stem {

/// File and format, scan, detector, and the calibration in force (that of the file, with what the user gave).
[[nodiscard]] std::vector<std::string> acquisition_lines(const Acquisition& acquisition,
                                                         const Calibration& calibration);

/// What was repaired, dropped or assumed while opening.
[[nodiscard]] std::vector<std::string> note_lines(const Acquisition& acquisition);

/// What a load gave: shape, layout, type and time, and whether every count is exact.
[[nodiscard]] std::vector<std::string> result_lines(const Dataset& dataset);

}  // namespace sonde::stem
