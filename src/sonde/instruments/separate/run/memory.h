// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/memory/memory_plan.h"
#include "sonde/instruments/separate/network/plan.h"
#include "sonde/instruments/separate/run/separation.h"

namespace sonde::separate {

/// Host memory of a whole run, by what it is for: "weights", "parameters", "activations" between layers, "scratch",
/// "audio", "output" and "libraries". Parameters are those of the mapped file where these are float32. `network`: of
/// its plan; on a GPU only what is copied to and from it, as values.
[[nodiscard]] MemoryPlan memory_of(const Config& config, const SeparationSettings& settings,
                                   const Plan::Bytes& network);

}  // namespace sonde::separate
