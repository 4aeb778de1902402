// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/instruments/stem/orient/orientation_plan.h"

namespace sonde::stem {

/// The orientations that half a turn about an axis of low index within 12 degrees of the beam makes of one, where
/// reflections across this axis have nearly all of its pattern: their patterns are nearly the same, with the opposite
/// tilt. Those that a turn of the crystal brings within 5 degrees of the first are left out.
[[nodiscard]] std::vector<Orientation> plane_partners(const OrientationPlan& plan, const Orientation& orientation);

}  // namespace sonde::stem
