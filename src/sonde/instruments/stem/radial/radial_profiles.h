// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/stem/pass/operation.h"
#include "sonde/instruments/stem/radial/radial_plan.h"

namespace sonde::stem {

/// Of each frame of a pass the mean counts of a pixel in each bin of a plan, f32 (positions, bins): NaN in bins without
/// a good pixel and at positions without a frame.
class RadialProfiles final : public Operation {
 public:
  enum class Variance { no, of_counts };

  /// The plan is borrowed. Its detector must be that of the pass.
  RadialProfiles(const RadialPlan& plan, Variance wanted) : plan_(&plan), wanted_(wanted) {}

  Array mean;
  Array variance;  ///< of the mean, of Poisson counts; empty unless asked for

  /// Throws Error(bad_input) for a variance of elements that are not counts.
  [[nodiscard]] Abilities abilities(const PassShape& shape) const override;
  void start(const PassShape& shape) override;
  [[nodiscard]] std::unique_ptr<State> make_state(const PassShape& shape) const override;
  void take(const Tile& tile, State* state) override;

 private:
  const RadialPlan* plan_;
  Variance wanted_;
};

}  // namespace sonde::stem
