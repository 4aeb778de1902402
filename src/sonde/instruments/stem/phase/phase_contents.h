// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/engine/io/contents.h"
#include "sonde/instruments/stem/phase/phase_result.h"

namespace sonde::stem {

/// The maps of a result as (scan row, scan column), f32 but for counts and flags:
///   com/x, com/y         centres of mass, px of the detector as loaded; com/sum counts; com/valid
///   com/sigma_x, com/sigma_y  their standard errors where values are counts
///   field/x, field/y     deflections along the scan, with their magnitude and angle (rad, from +x towards +y)
///   field/curl, field/divergence
///   phase/icom           the phase; phase/complete: 0 where ricom lacks neighbours; neither of a field by itself
/// and rotation/*, scale/*, threshold/*, calibration and settings, from which the same is made again
/// (stored_centres.h). Each has the attributes units, frame ("detector" or "scan"), calibration (JSON), sonde_version
/// and command.
[[nodiscard]] Contents phase_contents(const PhaseResult& result, const std::string& command);

}  // namespace sonde::stem
