// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

#include "sonde/instruments/maxwell/read/direction.h"
#include "sonde/instruments/maxwell/read/experiment.h"
#include "sonde/instruments/maxwell/read/observed_data.h"
#include "sonde/instruments/maxwell/run/operator.h"
#include "sonde/instruments/maxwell/run/run_plan.h"

namespace sonde::maxwell {

/// Bytes of an experiment; and with its medium while that is made.
[[nodiscard]] std::size_t given_bytes(const Experiment& experiment);
[[nodiscard]] std::size_t experiment_bytes(const Experiment& experiment);

/// The shots of an experiment: prepared once, then one after the other.
class NativeRun {
 public:
  enum class Kind { plain, linearised };
  /// Throws what make_operator() throws.
  explicit NativeRun(Experiment experiment, Kind kind = Kind::plain, const Processes& processes = {},
                     Device device = Device::cpu());

  [[nodiscard]] const Experiment& experiment() const { return experiment_; }
  [[nodiscard]] const RunPlan& plan() const { return plan_; }
  [[nodiscard]] const Operator& waves() const { return waves_; }
  /// Cells with their layers, and inner steps of one shot.
  [[nodiscard]] Index cells() const { return waves_.grid().count(); }
  [[nodiscard]] Index steps() const { return waves_.inner_steps(); }
  /// Shots of this rank.
  [[nodiscard]] Index shots_here() const;

  /// The records of all shots; `stepped` is called after each inner step, and the first shot is watched. Ends between
  /// steps when asked to stop. Where several ranks share the shots, rank 0 has the first one and gets all records;
  /// where they have parts of the grid, all get them.
  [[nodiscard]] ObservedData run(const std::function<void()>& stepped = {}, const Watch& first_shot = {});
  /// The change of the records along a change of the experiment, to first order.
  [[nodiscard]] ObservedData born(const Direction& direction, PaddingGradient padding,
                                  const std::function<void()>& stepped = {});

 private:
  [[nodiscard]] ObservedData records(const std::function<std::vector<double>(std::size_t, const Shot&)>& record_of);

  Experiment experiment_;
  Processes processes_;
  Operator waves_;
  RunPlan plan_;
};

}  // namespace sonde::maxwell
