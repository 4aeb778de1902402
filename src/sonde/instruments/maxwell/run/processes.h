// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sonde/engine/ranks/ranks.h"
#include "sonde/instruments/maxwell/grid/component.h"

namespace sonde::maxwell {

/// How several processes work together: each has some of the shots, or all have a part of the grid of every shot.
struct Processes {
  Ranks ranks = Ranks::alone();
  std::optional<Triple> parts{};  ///< along z, y, x; unset: they share the shots

  [[nodiscard]] Ranks of_shots() const { return parts ? Ranks::alone() : ranks; }
};

}  // namespace sonde::maxwell
