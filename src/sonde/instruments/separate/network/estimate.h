// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/instruments/separate/network/plan.h"

namespace sonde::separate {

/// How each layer of a network is computed in so many bytes: by the rule of ConvolutionMethod::automatic, but directly
/// where its transformed weights do not fit, first those that save the most memory for each multiplication they add.
/// Where nothing more can be saved, the plan is larger than `bytes`.
[[nodiscard]] std::vector<ConvolutionMethod> methods_within(const Config& config, std::size_t bytes);

/// Memory of probe_seconds().
[[nodiscard]] std::size_t probe_bytes(const Config& config, const std::vector<ConvolutionMethod>& methods);
/// Seconds of one chunk, from a measurement of 256 frames, or all of them, with weights of zero, on as many threads as
/// now. Runs the network twice.
[[nodiscard]] double probe_seconds(const Config& config, const std::vector<ConvolutionMethod>& methods);

}  // namespace sonde::separate
