// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "sonde/engine/panel/result_page.h"

namespace sonde::stem {

/// The page of what phase_contents() holds: phase, deflections, curl and divergence; with settings of the orientation
/// and of the integral, which make these anew from the stored centres of mass and origin.
[[nodiscard]] panel::Arrangement arrange_phase(const std::shared_ptr<const panel::StoredResult>& result);

}  // namespace sonde::stem
