// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "sonde/instruments/stem/bragg/bragg_plan.h"
#include "sonde/instruments/stem/bragg/bragg_vectors.h"
#include "sonde/instruments/stem/pass/operation.h"

namespace sonde::stem {

/// The Bragg disks of every frame of a pass. Lists depend neither on threads nor on batches.
class BraggDisks final : public Operation {
 public:
  /// The plan is borrowed. Its detector must be that of the pass.
  explicit BraggDisks(const BraggPlan& plan) : plan_(&plan) {}

  BraggVectors vectors;  ///< sizes, offsets and disks; positions without a frame have none and are not valid
  FilterCounts filters;  ///< over all frames

  /// Bytes of the longest lists that so many positions may have, gathered once more in the end.
  [[nodiscard]] static std::size_t most_bytes(Index positions, Index max_num_peaks);

  [[nodiscard]] Abilities abilities(const PassShape& shape) const override;
  void start(const PassShape& shape) override;
  [[nodiscard]] std::unique_ptr<State> make_state(const PassShape& shape) const override;
  void take(const Tile& tile, State* state) override;
  void merge(State& total, State& part) const override;
  void finish(State* total) override;

 private:
  const BraggPlan* plan_;
};

}  // namespace sonde::stem
