// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/engine/memory/tier.h"
#include "sonde/engine/ranks/ranks.h"
#include "sonde/engine/run/run.h"

namespace sonde {

/// All ranks of this run: rank 0 speaks for them from then on, and they share the memory of their machine. All may hold
/// what the one with the least memory may, so that all plan the same. `how` says in the report how several divide the
/// work.
[[nodiscard]] Ranks join_ranks(Run& run, const std::string& how);

/// Those of one machine write to the same disk: each gets its part of the budget, and all the least of these. Every
/// rank calls it.
void share_disk(TierBudgets& budgets, const Ranks& ranks);

}  // namespace sonde
