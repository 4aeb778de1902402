// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/instruments/stem/load/load_options.h"
#include "sonde/instruments/stem/read/acquisition.h"

namespace sonde::stem {

/// A calibration with what its user gives in place of what a file states, and with the sizes of a detector pixel that
/// follow from both.
[[nodiscard]] Calibration with_given(Calibration calibration, const LoadOptions& options);

}  // namespace sonde::stem
