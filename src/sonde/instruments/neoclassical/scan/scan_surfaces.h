// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "sonde/engine/ranks/ranks.h"
#include "sonde/instruments/neoclassical/scan/scan.h"

namespace sonde::neoclassical {

/// Points on several surfaces. All ranks give the same, but for what only rank 0 is asked.
struct SurfacesScan {
  std::function<Plan(Index surface)> prepare;
  std::vector<std::vector<Case>> cases;  ///< of each surface
  /// Rank 0: which points are to be left out; empty: none.
  std::function<bool(Index surface, Index which)> skip{};
  /// Rank 0: receives every point when it is done, one at a time; what it throws ends the scan.
  std::function<void(Index surface, Index which, const Point& point)> finished{};
};

/// Solves them on all ranks together, each on its own threads: pieces of one surface go to whoever is free, large ones
/// first, so that all end at about the same time. A point's numbers do not depend on who solves it. Each rank reserves
/// in its own `budget`; `finished` of the options is not used. Returns on rank 0 how many points each rank has solved,
/// on the others nothing. Errors as of scan(), on rank 0 (see hand_out()).
[[nodiscard]] std::vector<Index> scan_surfaces(const Ranks& ranks, const SurfacesScan& work, const Budget& budget,
                                               const ScanOptions& options = {});

}  // namespace sonde::neoclassical
