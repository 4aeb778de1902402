// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/engine/panel/result_page.h"

namespace sonde::stem {

/// The page of what phase_contents() holds: phase, deflections, curl and divergence.
[[nodiscard]] std::vector<panel::ResultPanel> arrange_phase(const panel::StoredResult& result);

/// The settings of orientation and integral, which make these anew from the stored centres of mass and origin; none
/// where the file lacks a part of what is needed.
[[nodiscard]] panel::ResultAdjustment adjustment_of_phase(const panel::StoredResult& result);

}  // namespace sonde::stem
