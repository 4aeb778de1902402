// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/stem/count/count_frame.h"
#include "sonde/instruments/stem/count/event_list.h"
#include "sonde/instruments/stem/pass/operation.h"

namespace sonde::stem {

/// The electrons of every frame of a pass. Lists depend neither on threads nor on batches.
class CountElectrons final : public Operation {
 public:
  /// The rule is borrowed. Its detector must be that of the pass.
  explicit CountElectrons(const CountRule& rule) : rule_(&rule) {}

  EventList list;           ///< a frame for each position that has one
  std::uint64_t xrays = 0;  ///< maxima that are too large for an electron
  Array pattern;            ///< (row, col) u64: electrons in each pixel over all positions

  [[nodiscard]] Abilities abilities(const PassShape& shape) const override;
  void start(const PassShape& shape) override;
  [[nodiscard]] std::unique_ptr<State> make_state(const PassShape& shape) const override;
  void take(const Tile& tile, State* state) override;
  void merge(State& total, State& part) const override;
  void finish(State* total) override;

 private:
  const CountRule* rule_;
};

/// The corrected values of every frame of a pass, f32 (position, row, col): for a few sampled positions.
class CorrectedValues final : public Operation {
 public:
  /// The rule is borrowed; its thresholds have no effect.
  explicit CorrectedValues(const CountRule& rule) : rule_(&rule) {}

  std::vector<float> values;
  std::vector<std::uint8_t> present;  ///< (position): 0 where there is no frame

  [[nodiscard]] Abilities abilities(const PassShape& shape) const override;
  void start(const PassShape& shape) override;
  void take(const Tile& tile, State* state) override;

 private:
  const CountRule* rule_;
};

}  // namespace sonde::stem
