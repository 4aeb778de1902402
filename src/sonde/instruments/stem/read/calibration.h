// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/instruments/stem/read/acquisition.h"

namespace sonde::stem {

/// Fills detector_step_mrad = pixel / camera length and detector_step_inv_a = angle / wavelength where they are absent
/// and follow from the others; each from the other as well, through the wavelength. A step that rests on a value of the
/// user counts as the user's.
void derive_detector_steps(Calibration& calibration);

}  // namespace sonde::stem
