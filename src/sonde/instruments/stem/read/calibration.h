// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/instruments/stem/read/acquisition.h"

namespace sonde::stem {

/// Relativistic de Broglie wavelength of electrons in Angstrom: h / sqrt(2 m e V (1 + e V / (2 m c^2))).
/// 200 kV: 0.0250793, 300 kV: 0.0196875.
[[nodiscard]] double electron_wavelength_a(double volts);

/// Fills detector_step_mrad = pixel / camera length and detector_step_inv_a = angle / wavelength where they are absent
/// and follow from the others; each from the other as well, through the wavelength. A step that rests on a value of the
/// user counts as the user's.
void derive_detector_steps(Calibration& calibration);

}  // namespace sonde::stem
