// SPDX-License-Identifier: Apache-2.0
// Private to the room: what `separate run` says of what it did.
#pragma once

#include <vector>

#include "sonde/engine/run/run.h"
#include "sonde/instruments/separate/network/network.h"
#include "sonde/instruments/separate/run/separation.h"

namespace sonde::separate {

/// One file and its stems, to `results`, those of its network.
void report_file(const SeparationTask& task, const SeparationResult& result, const Config& config,
                 sonde::Value& results, Run& run);
/// The stems that are there after the first pass of a preview, and after each that follows.
void report_preview(const SeparationTask& task, const SeparationResult& result, const SeparationSettings& settings,
                    Run& run);
/// Where the time of all passes went: to what belongs to the moment.
void report_network(const std::vector<Network::Time>& times, sonde::Value& moment);

}  // namespace sonde::separate
