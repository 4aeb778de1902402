// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/base/choice.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/instruments/stem/load/load_options.h"
#include "sonde/instruments/stem/read/acquisition.h"

namespace sonde::stem {

struct CalibrationFrame;

/// A calibration and which file says what of it.
struct ChosenCalibration {
  Calibration calibration;
  std::vector<Choice<std::string>> choices{};
};

/// A calibration with the steps of the caller's calibration file and with what the caller gives, each in place of what
/// is known: a value that is given comes before that of the calibration file, and that before what the file of the scan
/// states. The sizes of a detector pixel that follow from them are filled in. `path` and `frame` are those of the scan.
/// Throws what read_calibration and calibration_for throw.
[[nodiscard]] ChosenCalibration with_given(Calibration calibration, const std::string& path,
                                           const CalibrationFrame& frame, const LoadOptions& options,
                                           const Budget& budget);
[[nodiscard]] ChosenCalibration with_given(const Acquisition& acquisition, const LoadOptions& options,
                                           const Budget& budget);

}  // namespace sonde::stem
