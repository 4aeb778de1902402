// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/ptycho/scan/placement.h"

namespace sonde::ptycho {

/// A phase that rises linearly over the object, rad per pixel.
struct PhaseRamp {
  double per_row = 0, per_col = 0;
};

/// The linear ramp of a complex object or of a phase map inside the field of view, one for each slice of (S, Y, X).
/// Patterns do not see a ramp that object and probe share with opposite signs, so a reconstruction leaves it open.
/// Least squares on phases, wrapped ones: of a complex object each point counts as much as its |O|^2 next to its
/// neighbours until the ramp is known to a fraction of a turn across the view, and alike afterwards. Takes f32, f64,
/// c64, c128; throws Error(internal) for others, Error(bad_input) for a view of less than 2 x 2 pixels.
[[nodiscard]] std::vector<PhaseRamp> phase_ramps(const Array& object, const Box& view);

/// Takes them out of all of the object; the phase at the centre of the view stays. The probe is left as it is, see
/// level_phase() in results. Returns what was taken out.
std::vector<PhaseRamp> remove_phase_ramps(Array& object, const Box& view);

}  // namespace sonde::ptycho
