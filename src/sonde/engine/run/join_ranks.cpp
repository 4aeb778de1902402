// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/run/join_ranks.h"

#include <fmt/format.h>

namespace sonde {

Ranks join_ranks(Run& run, const std::string& how) {
  const Ranks ranks = Ranks::world();
  if (ranks.rank() != 0) run.be_silent();
  run.share_machine(ranks.on_this_machine());
  if (ranks.size() > 1) run.report().add_choice("ranks", Value(ranks.size()), "started together: " + how);
  return ranks;
}

void share_disk(TierBudgets& budgets, const Ranks& ranks) {
  const int here = ranks.on_this_machine();
  if (here == 1) return;
  budgets.disk = Budget(budgets.disk.limit_bytes() / static_cast<std::size_t>(here),
                        fmt::format("{}, divided by {} processes", budgets.disk.because(), here));
}

}  // namespace sonde
