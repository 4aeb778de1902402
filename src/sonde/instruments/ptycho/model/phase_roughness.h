// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/instruments/ptycho/model/state.h"

namespace sonde::ptycho {

/// The mean length of the phase's gradient over the field of view (the box that the positions span) and all slices, rad
/// per pixel: forward differences of neighbouring pixels, each within [-pi, pi]. Noise raises it, smoothing lowers it.
/// 0 for a field of view without neighbours.
[[nodiscard]] double phase_roughness(const State& state);

}  // namespace sonde::ptycho
