// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/instruments/ptycho/engines/batch_settings.h"
#include "sonde/instruments/ptycho/engines/engine.h"

namespace sonde::ptycho {

struct GdSettings {
  double step = 0.5;
  double g = 0.1;
  BatchSettings batch;
  Loss loss = Loss::amplitude;

  static constexpr EngineTraits traits{.has_kernels = true, .can_be_shared = true};
  void describe(Fields& fields);
  [[nodiscard]] Passes passes() const { return {.together = Together::batch, .batch = batch}; }
  [[nodiscard]] MemoryNeed memory(const WorkSizes& sizes, const BatchSizes& batch_sizes) const;
  [[nodiscard]] MemoryNeed memory_there(const WorkSizes&, const BatchSizes&, Index) const {
    return {0, "only the sums"};
  }
};

/// Preconditioned batch gradient (docs/ptycho-theory.md#gd). g = 1 and step = 0.5 are py4DSTEM's defaults.
template <class Real>
class Gd final : public Engine<Real> {
 public:
  Gd(const GdSettings& settings, Workbench<Real>&) : settings_(settings) {}
  void take(const GdSettings& settings, Workbench<Real>&) { settings_ = settings; }
  void iterate(Workbench<Real>& bench, const Iteration& iteration) override;

 private:
  GdSettings settings_;
  BatchSums sums_;
};

}  // namespace sonde::ptycho
