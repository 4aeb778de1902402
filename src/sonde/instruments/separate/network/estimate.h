// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/instruments/separate/network/plan.h"

namespace sonde::separate {

/// Seconds of one pass through a layer by each method; zeros for a layer that is no 3 x 3 convolution.
struct MethodTimes {
  double direct_s = 0, winograd_s = 0;
};

/// How each layer of a network is computed in so many bytes: by the rule of ConvolutionMethod::automatic, or where
/// `times` are given by the other method where that is clearly faster; but directly where its transformed weights do
/// not fit, first those that save the most memory for each multiplication (with `times`, each second) they add. Where
/// nothing more can be saved, the plan is larger than `bytes`.
[[nodiscard]] std::vector<ConvolutionMethod> methods_within(const Config& config, std::size_t bytes,
                                                            const std::vector<MethodTimes>& times = {});

/// The times of each layer of the list, on as many threads as now, with values and weights of zero. Layers of equal
/// sizes are measured once, twice by each method: it takes about as long as two chunks.
[[nodiscard]] std::vector<MethodTimes> measure_methods(const Config& config);
/// Memory of measure_methods().
[[nodiscard]] std::size_t tuning_bytes(const Config& config);

/// Memory of probe_seconds().
[[nodiscard]] std::size_t probe_bytes(const Config& config, const std::vector<ConvolutionMethod>& methods);
/// Seconds of one chunk, from a measurement of 256 frames, or all of them, with weights of zero, on as many threads as
/// now. Runs the network twice.
[[nodiscard]] double probe_seconds(const Config& config, const std::vector<ConvolutionMethod>& methods);

}  // namespace sonde::separate
