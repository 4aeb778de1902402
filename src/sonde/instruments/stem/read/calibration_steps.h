// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "sonde/instruments/stem/read/acquisition.h"

namespace sonde::stem {

/// The steps that take places on the detector to physical units along the scan, in the order in which they are applied.
enum class CalibrationStep { origin, ellipse, pixel, transpose, rotation };

/// "ellipse,rotation": the names of steps; "" is none. Throws Error(usage) beginning with `where` for other names.
[[nodiscard]] std::vector<CalibrationStep> parse_steps(std::string_view text, std::string_view where);

/// FieldInfo::check of such a text.
void check_steps(std::string_view text, std::string_view where);

/// The calibration without some steps.
[[nodiscard]] Calibration without(Calibration calibration, const std::vector<CalibrationStep>& steps);

}  // namespace sonde::stem
