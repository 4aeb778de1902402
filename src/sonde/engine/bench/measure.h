// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/engine/report/spread.h"

namespace sonde {

/// When to stop measuring: as soon as the median is known to `relative` of itself, but not before `least` and not
/// after `most` samples, and in any case after `most_s` seconds once `least` samples are there.
struct Sampling {
  Index least = 7;
  Index most = 201;
  double relative = 0.01;
  double most_s = 3;
};

/// First call and steady state of one operation, kept apart.
struct Measured {
  double first_s = 0;
  std::vector<double> samples;  ///< every steady-state call, in order, in seconds
  [[nodiscard]] Spread steady() const { return spread_of(samples); }
};

/// Calls each operation once, then all of them in turns until every one is known well enough. Turns, and the reversed
/// order in every other round, let drifts of the machine (clock, neighbours) fall on all alike, so that ratios of their
/// medians are fair. Each operation returns its own seconds, or a negative number to be timed from outside. Checks for
/// an interrupt between calls.
[[nodiscard]] std::vector<Measured> measure_in_turns(const std::vector<std::function<double()>>& operations,
                                                     const Sampling& sampling = {});

/// A single operation.
[[nodiscard]] Measured measure(const std::function<void()>& operation, const Sampling& sampling = {});

/// The densest point of the values: the half-sample mode (Bickel & Fruehwirth 2006). Where a machine has two speeds
/// (boosted and not), the median may fall between them, the mode does not. `values` must not be empty. O(n log n).
[[nodiscard]] double half_sample_mode(std::vector<double> values);

}  // namespace sonde
