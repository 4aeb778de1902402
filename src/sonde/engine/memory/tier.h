// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sonde/engine/base/choice.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/memory/budget.h"

namespace sonde {

/// Where many bytes can lie: the memory of a GPU, of the host, or a file without a name.
enum class Tier : std::uint8_t { device, host, disk };

/// "device", "host", "disk".
[[nodiscard]] std::string_view name(Tier tier);

/// The budget of each tier. A cheap handle, like Budget.
struct TierBudgets {
  std::optional<Budget> device;  ///< of a GPU; empty for work on the CPU, whose memory is the host's
  Budget host;
  Budget disk;
  std::string folder;  ///< of the files on the disk

  /// Around the budget that work on `device` already has: on a GPU the host adds Budget::automatic, and the disk 0.9 of
  /// what is free in `folder` (empty: scratch_folder()). Throws Error(io) when there is no such folder.
  static TierBudgets around(Device device, const Budget& budget, std::string folder = "");
  /// The host without a limit and no disk: for work whose memory somebody else has planned.
  static TierBudgets unlimited();
  /// Throws Error(internal) when there is no such tier.
  [[nodiscard]] const Budget& of(Tier tier) const;
};

/// The nearest tier with room for `bytes`: device, else host, else disk. Throws Error(budget) when none has: what is
/// needed, what each has left, who holds most of it, and `remedy` as its hint.
[[nodiscard]] Choice<Tier> choose_tier(const TierBudgets& budgets, std::size_t bytes, const std::string& what,
                                       const std::string& remedy = "raise " + setting("memory"));

}  // namespace sonde
