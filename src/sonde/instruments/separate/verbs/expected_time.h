// SPDX-License-Identifier: Apache-2.0
// How long a chunk takes on this machine, kept from run to run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/base/choice.h"
#include "sonde/engine/run/run.h"
#include "sonde/instruments/separate/network/plan.h"

namespace sonde::separate {

/// What decides how long a chunk takes: network, algorithms, threads, and this program.
[[nodiscard]] std::string time_key(const Config& config, const std::vector<ConvolutionMethod>& methods);
/// Keeps what a run measured. Where the cache cannot be written, nothing is kept.
void keep_chunk_seconds(const std::string& key, double seconds);
/// Seconds of one chunk: of an earlier run, else from a short measurement, which is kept too; nothing where the budget
/// has no room for it.
[[nodiscard]] std::optional<Choice<double>> expected_chunk_seconds(const Config& config,
                                                                   const std::vector<ConvolutionMethod>& methods,
                                                                   Run& run);

}  // namespace sonde::separate
