// SPDX-License-Identifier: Apache-2.0
// Private to the room: order, cells and time step of least cost for a wanted accuracy.
#pragma once

#include <string>

#include "sonde/instruments/maxwell/verbs/run_parts.h"

namespace sonde::maxwell {

/// The setting `accuracy`, bound to `value`.
void describe_accuracy(Fields& fields, std::string& value);

/// Shows the alternatives and sets grid and times of the run file as the cheapest of them says. Throws
/// Error(bad_input) where no grid is as accurate or none that is fits into memory.
void choose_grid(const std::string& accuracy, const ModelOptions& options, RunFile& file, Run& run);
/// The same for `runs` of a model of gprMax: returns it with those cells and steps, and sets the order of `options`.
[[nodiscard]] GprmaxInput choose_grid(const std::string& accuracy, ModelOptions& options, const GprmaxInput& input,
                                      Index runs, Run& run);

}  // namespace sonde::maxwell
