// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/stem/pass/operation.h"

namespace sonde::stem {

/// Of every position T = sum I, Mr = sum row I, Mc = sum col I over the resident detector: exact integers (u64) of
/// counts, f64 of floats. Centre of mass is their ratio.
class MomentSums final : public Operation {
 public:
  [[nodiscard]] Abilities abilities(const PassShape& shape) const override;
  void start(const PassShape& shape) override;
  [[nodiscard]] std::unique_ptr<State> make_state(const PassShape& shape) const override;
  void take(const Tile& tile, State* state) override;

  Array total, moment_row, moment_col;  ///< (position)
};

}  // namespace sonde::stem
