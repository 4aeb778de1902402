// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "sonde/engine/memory/tier.h"
#include "sonde/instruments/maxwell/read/experiment.h"
#include "sonde/instruments/maxwell/read/observed_data.h"
#include "sonde/instruments/maxwell/run/operator.h"
#include "sonde/instruments/maxwell/run/run_plan.h"

namespace sonde::maxwell {

/// 1/2 |record - observed|^2 over all shots, and its derivatives.
struct SurveyGradient {
  double misfit = 0;
  ModelChange model{};                         ///< [z][y][x]; with poles eps_r is eps_inf
  std::vector<std::vector<double>> sources{};  ///< [shot] of [source][step]
};

/// The gradient of an experiment: prepared once, shot after shot, all threads on each.
class GradientRun {
 public:
  /// Throws what make_operator() and plan_storage() throw; `observed` is checked against the experiment
  /// (require_recorded_by()).
  GradientRun(Experiment experiment, ObservedData observed, const GradientOf& of, const StorageSettings& storage,
              const TierBudgets& budgets, const Processes& processes = {}, Device device = Device::cpu());

  [[nodiscard]] const Experiment& experiment() const { return experiment_; }
  [[nodiscard]] const RunPlan& plan() const { return plan_; }
  [[nodiscard]] const StoragePlan& storage() const { return storage_; }
  /// Cells with their layers, and inner steps of one shot, once forwards.
  [[nodiscard]] Index cells() const { return waves_.grid().count(); }
  [[nodiscard]] Index steps() const { return waves_.inner_steps(); }

  /// Shots of this rank.
  [[nodiscard]] Index shots_here() const;

  /// `stepped` is called after each step forwards. Where several ranks share the shots, all get the gradient of the
  /// model and rank 0 that of the sources; where they have parts of the grid, rank 0 that of the model and all the
  /// other.
  [[nodiscard]] SurveyGradient run(const std::function<void()>& stepped = {});

 private:
  Experiment experiment_;
  ObservedData observed_;
  GradientOf of_;
  Processes processes_;
  Operator waves_;
  RunPlan plan_;
  StoragePlan storage_;
};

/// Lines and peak of a gradient with the storage that is chosen for it, whose bytes stores reserve themselves.
StoragePlan plan_gradient(const Operator& waves, const GradientOf& of, const StorageSettings& storage,
                          std::size_t sources, std::size_t receivers, const TierBudgets& budgets, RunPlan& plan);

}  // namespace sonde::maxwell
