// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

#include "sonde/instruments/maxwell/read/experiment.h"
#include "sonde/instruments/maxwell/read/observed_data.h"
#include "sonde/instruments/maxwell/run/operator.h"
#include "sonde/instruments/maxwell/run/run_plan.h"

namespace sonde::maxwell {

/// Bytes of an experiment and of its medium while that is made.
[[nodiscard]] std::size_t experiment_bytes(const Experiment& experiment);

/// The shots of an experiment: prepared once, then one after the other.
class NativeRun {
 public:
  /// Throws what make_operator() throws.
  explicit NativeRun(Experiment experiment);

  [[nodiscard]] const Experiment& experiment() const { return experiment_; }
  [[nodiscard]] const RunPlan& plan() const { return plan_; }
  /// Cells with their layers, and inner steps of one shot.
  [[nodiscard]] Index cells() const { return waves_.problem().grid.count(); }
  [[nodiscard]] Index steps() const { return waves_.inner_steps(); }

  /// The records of all shots; `stepped` is called after each inner step. Ends between steps when asked to stop.
  [[nodiscard]] ObservedData run(const std::function<void()>& stepped = {});

 private:
  Experiment experiment_;
  Operator waves_;
  RunPlan plan_;
};

}  // namespace sonde::maxwell
