// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/instruments/ptycho/run/memory_plan.h"

namespace sonde::ptycho {

/// Transforms of one pattern-iteration of the slowest engine: 2 per mode and slice step, and 2 more for shifted probes.
[[nodiscard]] double transforms_per_iteration(const RunSizes& sizes);
/// Seconds of one iteration, from a transform timed here and now on one thread: rough, within a factor of two.
[[nodiscard]] double predicted_seconds(const RunSizes& sizes);

}  // namespace sonde::ptycho
