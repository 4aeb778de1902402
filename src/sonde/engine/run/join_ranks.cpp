// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/run/join_ranks.h"

#include <fmt/format.h>

#include <cstddef>
#include <span>

namespace sonde {
namespace {

/// The least that any rank may hold.
Budget least_of(const Budget& budget, const Ranks& ranks) {
  double least = -static_cast<double>(budget.limit_bytes());
  ranks.largest(std::span(&least, 1));
  const auto bytes = static_cast<std::size_t>(-least);
  return bytes < budget.limit_bytes() ? Budget(bytes, budget.because() + ", the least of all processes") : budget;
}

}  // namespace

Ranks join_ranks(Run& run, const std::string& how) {
  const Ranks ranks = Ranks::world();
  if (ranks.rank() != 0) run.be_silent();
  run.share_machine(ranks.on_this_machine());
  if (ranks.size() == 1) return ranks;
  run.limit_host(least_of(run.host_budget(), ranks));
  run.report().add_choice("ranks", Value(ranks.size()), "started together: " + how);
  return ranks;
}

void share_disk(TierBudgets& budgets, const Ranks& ranks) {
  if (ranks.size() == 1) return;
  const int here = ranks.on_this_machine();
  const Budget part(budgets.disk.limit_bytes() / static_cast<std::size_t>(here),
                    fmt::format("{}, divided by {} processes", budgets.disk.because(), here));
  budgets.disk = least_of(part, ranks);
}

}  // namespace sonde
