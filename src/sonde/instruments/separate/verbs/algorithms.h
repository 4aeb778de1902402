// SPDX-License-Identifier: Apache-2.0
// Private to the room: how the layers of a network are computed on this machine.
#pragma once

#include <cstddef>
#include <vector>

#include "sonde/engine/run/run.h"
#include "sonde/instruments/separate/network/plan.h"

namespace sonde::separate {

/// methods_within(), by what was measured on this machine, where that was done; with `tune` it is done where it was
/// not, and kept for later runs, whatever their threads. A choice of the report. Throws Error(budget) where measuring
/// does not fit the memory that may be held.
[[nodiscard]] std::vector<ConvolutionMethod> choose_methods(const Config& config, std::size_t bytes, bool tune,
                                                            Run& run);

}  // namespace sonde::separate
