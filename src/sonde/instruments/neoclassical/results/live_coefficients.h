// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "sonde/engine/panel/page.h"
#include "sonde/instruments/neoclassical/results/coefficient_tables.h"

namespace sonde::neoclassical {

/// What those see who watch a scan: D11 and D31 of one radius over collisionality as its points are solved, and the
/// points that came last. Not thread-safe.
class LiveCoefficients {
 public:
  /// "D11", "D31" and "points".
  [[nodiscard]] static std::vector<panel::Panel> panels();

  /// A point that was solved, or has no answer, which `because` says.
  void add(Index radius, Index nu, Index field, const std::string& because = "");
  /// Their options. `tables` holds zeros where nothing was solved yet; its radius is that of the last point. Of many
  /// fields eight are drawn. Costs as much as a copy of the tables.
  [[nodiscard]] Value options(CoefficientTables tables) const;

 private:
  struct Solved {
    Index radius, nu, field;
    std::string because;
  };
  [[nodiscard]] Value latest_points(const CoefficientTables& tables) const;

  static constexpr std::size_t most_points = 12, most_curves = 8;

  std::deque<Solved> latest_;  // the newest first
};

}  // namespace sonde::neoclassical
