// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/stem/pass/operation.h"

namespace sonde::stem {

/// Of every resident pixel over all positions: its sum, its largest value, and how often it is not zero. Sums of counts
/// are exact; those of floats are rounded in the order of the file.
class PatternStatistics final : public Operation {
 public:
  [[nodiscard]] Abilities abilities(const PassShape& shape) const override;
  void start(const PassShape& shape) override;
  [[nodiscard]] std::unique_ptr<State> make_state(const PassShape& shape) const override;
  void take(const Tile& tile, State* state) override;
  void merge(State& total, State& part) const override;
  void finish(State* total) override;

  Array sum;      ///< (row, col) u64 or f64
  Array largest;  ///< (row, col) u64 or f32
  Array nonzero;  ///< (row, col) u64

 private:
  DType elements_ = DType::u16;
};

}  // namespace sonde::stem
