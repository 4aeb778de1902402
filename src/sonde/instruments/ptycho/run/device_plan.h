// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/base/choice.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/instruments/ptycho/model/device_patterns.h"
#include "sonde/instruments/ptycho/run/memory_plan.h"

namespace sonde::ptycho {

/// What a GPU holds whose kernels compute: a pure function of the sizes. The host holds what plan_memory() says
/// besides.
[[nodiscard]] MemoryPlan plan_device_memory(const RunSizes& sizes, PatternTier patterns);

/// On the device while the plan with its head-room fits its budget, else on the host, from where they are copied group
/// by group. Throws Error(budget) when not even that fits.
[[nodiscard]] Choice<PatternTier> choose_pattern_tier(const RunSizes& sizes, const Budget& device);

}  // namespace sonde::ptycho
