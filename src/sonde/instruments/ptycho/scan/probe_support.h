// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/array/array.h"
#include "sonde/instruments/ptycho/optics/sampling.h"
#include "sonde/instruments/ptycho/scan/placement.h"

namespace sonde::ptycho {

/// The smallest square about index floor(n / 2) that holds `share` of the probe's power (all modes), as a box inside
/// the window; cut off where the window ends. `probe` is complex128 (modes, rows, cols), as for all functions here.
/// Throws Error(bad_input) for a probe without power and for shares outside (0, 1].
[[nodiscard]] Box probe_support(const Array& probe, double share = 0.99);

/// The diameter of the smallest circle about the centre of mass of the probe's intensity that holds `share` of the
/// power, in the sampling's unit of length. Throws like probe_support().
[[nodiscard]] double probe_diameter(const Array& probe, const Sampling& sampling, double share = 0.99);

/// 1 - step / diameter, both in one unit: how much of the probe neighbouring positions share along a line. Below 0.6
/// reconstructions are rarely to be trusted; negative when there is no overlap at all.
[[nodiscard]] double linear_overlap(double step, double diameter);

}  // namespace sonde::ptycho
