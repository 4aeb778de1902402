// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/instruments/ptycho/constrain/phase_ramp.h"
#include "sonde/instruments/ptycho/results/result.h"

namespace sonde::ptycho {

/// Whether a ramp of this object's phase is nobody's: patterns do not see one that a single slice gives to the probe,
/// but between slices it would tilt the wave.
[[nodiscard]] bool has_free_ramp(const Result& result);

/// Gives the linear phase of the object inside the field of view to the probe: O exp(-i a r), P exp(i a r), each about
/// its own middle, after which every pattern is what it was. Returns a, rad per pixel. Needs has_free_ramp().
PhaseRamp level_phase(Result& result);

}  // namespace sonde::ptycho
