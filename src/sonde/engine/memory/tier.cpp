// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/memory/tier.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/memory/scratch_file.h"

namespace sonde {
namespace {

std::string size_text(std::size_t bytes) { return format_bytes(static_cast<double>(bytes)); }

}  // namespace

std::string_view name(Tier tier) {
  switch (tier) {
    case Tier::device:
      return "device";
    case Tier::host:
      return "host";
    case Tier::disk:
      return "disk";
  }
  return "";
}

TierBudgets TierBudgets::around(Device device, const Budget& budget, std::string folder) {
  if (folder.empty()) folder = scratch_folder();
  Budget disk(static_cast<std::size_t>(0.9 * static_cast<double>(free_disk_bytes(folder))),
              "0.9 of what is free in " + folder);
  if (device.is_cpu()) return {std::nullopt, budget, std::move(disk), std::move(folder)};
  return {budget, Budget::automatic(Device::cpu()), std::move(disk), std::move(folder)};
}

TierBudgets TierBudgets::unlimited() {
  return {std::nullopt, Budget(std::numeric_limits<std::size_t>::max(), "no limit"), Budget(0, "no disk"), ""};
}

const Budget& TierBudgets::of(Tier tier) const {
  if (tier == Tier::device && !device) throw Error(ErrorKind::internal, "the CPU has no memory beside the host's");
  return tier == Tier::device ? *device : tier == Tier::host ? host : disk;
}

Choice<Tier> choose_tier(const TierBudgets& budgets, std::size_t bytes, const std::string& what,
                         const std::string& remedy) {
  std::vector<std::string> left, held;
  for (const Tier tier : {Tier::device, Tier::host, Tier::disk}) {
    if (tier == Tier::device && !budgets.device) continue;
    const Budget& budget = budgets.of(tier);
    if (bytes <= budget.available_bytes()) {
      const std::string reason =
          left.empty() ? fmt::format("fits into {}", size_text(budget.available_bytes())) : join_words(left) + " left";
      return {tier, fmt::format("needs {}, {}", size_text(bytes), reason)};
    }
    left.push_back(fmt::format("{} has {}", name(tier), size_text(budget.available_bytes())));
    for (const Budget::Holder& holder : budget.holders())
      if (held.size() < 3) held.push_back(fmt::format("{} {}", holder.what, size_text(holder.bytes)));
  }
  std::string message = fmt::format("{} needs {}, but {} left", what, size_text(bytes), join_words(left));
  if (!held.empty()) message += fmt::format("; held by {}", join_words(held));
  throw Error(ErrorKind::budget, message).hint(remedy);
}

}  // namespace sonde
