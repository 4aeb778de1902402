// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include "sonde/instruments/maxwell/read/experiment.h"

namespace sonde::maxwell {

/// Why the model of an experiment cannot be put on cells of another size: "sigma is infinite in some elements"; empty
/// where it can.
[[nodiscard]] std::string why_cells_stay(const Experiment& experiment);

/// Puts model and poles of an experiment on cells of `spacing` (z, y, x, m), from plane 0 as far as they reach at
/// least; what is beyond the last element has its value. An element becomes the mean of those that it overlaps,
/// weighted by the overlap: elements that are located at nodes reach half a cell to either side of their plane. In
/// cells that are smaller by an odd number that is the nearest element, by an even number also the mean at an
/// interface. Points and layers are left as they are. Throws Error(bad_input) for a spacing not above 0 and where
/// why_cells_stay().
void resample(Experiment& experiment, const std::array<double, 3>& spacing);

}  // namespace sonde::maxwell
