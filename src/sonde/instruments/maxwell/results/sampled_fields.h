// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/array/array.h"
#include "sonde/instruments/maxwell/read/gprmax_model.h"
#include "sonde/instruments/maxwell/run/live_fields.h"

namespace sonde::maxwell {

/// Which nodes of a run's fields are taken. In cells of the padded arrays, but in the axes of the file: x, y, z.
struct Sampling {
  GprmaxAxes axes{};
  XyzIndex first{}, step{1, 1, 1}, count{1, 1, 1};
  /// False: the component's own nodes of index first + step i. True: cells `step` wide, in each the mean of a
  /// component's nodes at its corners along the axes on whose planes the component is located, four edges for E and two
  /// faces for H, as the snapshots of gprMax 3.1 are.
  bool centred = false;
};

/// One plane [y][x] of a component in the axes of the file, f32 or f64 as the fields are; zero where the run has no
/// such component, and behind the walls. Of a divided grid all ranks make the call and get the plane.
[[nodiscard]] Array sampled_plane(const LiveFields& fields, const Sampling& sampling, Component users, Index z);

/// Whether a run of this mode has the component of the file's axes.
[[nodiscard]] bool has_component(Mode mode, const GprmaxAxes& axes, Component users);

}  // namespace sonde::maxwell
