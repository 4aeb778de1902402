// SPDX-License-Identifier: Apache-2.0
// Private to the room: how the layers of a network are computed on this machine.
#pragma once

#include <cstddef>
#include <vector>

#include "sonde/engine/run/run.h"
#include "sonde/instruments/separate/network/plan.h"

namespace sonde::separate {

/// methods_within(): by rule, so that the same command has the same bits always; with `tune` by what was measured on
/// this machine, now (never by a dry run) or by an earlier run, whatever its threads. A choice of the report. Throws
/// Error(budget) where measuring does not fit the memory that may be held.
[[nodiscard]] std::vector<ConvolutionMethod> choose_methods(const Config& config, std::size_t bytes, bool tune,
                                                            Run& run, const std::string& whose = "");

}  // namespace sonde::separate
