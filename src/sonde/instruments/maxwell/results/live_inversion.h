// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <vector>

#include "sonde/engine/run/live_page.h"
#include "sonde/instruments/maxwell/grid/grid.h"
#include "sonde/instruments/maxwell/invert/inversion.h"

namespace sonde::maxwell {

/// What those see who watch an inversion: its model (of one in three dimensions the middle section along the line), the
/// objective of every iteration, and how each stage has ended. Thread-safe.
class LiveInversion {
 public:
  /// "model", "misfit" and "stages".
  [[nodiscard]] static std::vector<panel::Panel> panels();

  /// The pictures are of what is unknown.
  LiveInversion(const GridSpec& grid, const ParameterSettings& unknowns);

  /// After a step.
  void take(const Inversion& inversion);
  [[nodiscard]] LiveState state() const;

 private:
  [[nodiscard]] Value pictures() const;
  [[nodiscard]] Value curves() const;
  [[nodiscard]] Value table() const;

  const GridSpec grid_;
  const bool eps_r_, sigma_;
  mutable std::mutex mutex_;
  Model model_;
  std::vector<InversionRow> history_;
  std::vector<StageEnd> ends_;
};

}  // namespace sonde::maxwell
