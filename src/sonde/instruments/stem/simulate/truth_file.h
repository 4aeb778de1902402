// SPDX-License-Identifier: Apache-2.0
// Private to the room: what every truth file has.
#pragma once

#include <string>

#include "sonde/instruments/stem/simulate/simulate.h"

namespace sonde::stem {

inline constexpr const char* truth_schema = "sonde.truth/1";

/// The options as JSON, which read_truth() reads.
[[nodiscard]] std::string parameters_of(SimulateOptions options);

}  // namespace sonde::stem
