// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "sonde/engine/base/choice.h"
#include "sonde/engine/memory/memory_plan.h"
#include "sonde/engine/memory/tier.h"
#include "sonde/engine/ranks/ranks.h"
#include "sonde/instruments/maxwell/invert/wave_operator.h"
#include "sonde/instruments/maxwell/read/experiment.h"
#include "sonde/instruments/maxwell/run/operator.h"

namespace sonde::maxwell {

struct WaveSettings {
  GradientOf of{};               ///< eps_r, sigma and padding
  double least_eps_r = 0;        ///< of the models to come; 0: that of the experiment
  bool gauss_newton = false;     ///< whether gauss_newton() will be called: then its memory is planned
  double highest_frequency = 0;  ///< Hz, of sources and residuals: decides the safe sampling interval
  StorageSettings storage{};
  Ranks ranks = Ranks::alone();  ///< that share the shots: each runs neighbouring ones
  /// Shots that run at the same time; 0: as many as threads where that is faster than one; on a GPU as many as fit into
  /// its memory.
  Index in_flight = 0;
  Device device = Device::cpu();  ///< that computes; a GPU steps its shots together
};

/// The waves of an experiment in other models on its cells, shot by shot or several shots at a time, each on a thread
/// of its own, or all of them in each step of a GPU. Several ranks share the shots and make the same calls; all get all
/// records and the whole gradient. The numbers do not depend on any of that: gradients of shots are added along a fixed
/// binary tree over their places in the list.
class ExperimentWaves : public WaveOperator {
 public:
  /// Measures for some steps whether shots run faster together, where that is left to it and memory allows both.
  /// Throws what Operator() and plan_storage() throw.
  ExperimentWaves(Experiment experiment, const WaveSettings& settings, const TierBudgets& budgets);
  ~ExperimentWaves() override;

  [[nodiscard]] const Experiment& experiment() const;
  [[nodiscard]] const Operator& waves() const;
  [[nodiscard]] const Choice<Index>& in_flight() const;
  /// Of the fields of a shot; on a GPU of all shots in flight.
  [[nodiscard]] const StoragePlan& storage() const;
  /// Of the host, that the fields of all shots in flight reserve themselves.
  [[nodiscard]] std::size_t store_bytes() const;
  /// Of all shots in flight: of the host, and of a GPU where one computes.
  [[nodiscard]] const MemoryPlan& memory() const;
  [[nodiscard]] const MemoryPlan& device_memory() const;

  [[nodiscard]] CellGrid grid() const override;
  [[nodiscard]] Index shots() const override;
  [[nodiscard]] Index steps() const override;
  [[nodiscard]] double dt() const override;
  /// That of rank 0.
  [[nodiscard]] double agreed(double number) const override;
  void record(const Model& model, std::span<const ShotSignals> shots,
              const std::function<void(Index shot, const Gather& computed)>& take) override;
  [[nodiscard]] MisfitGradient gradient(const Model& model, std::span<const ShotSignals> shots,
                                        const ShotMisfit& misfit, Illumination illumination) override;
  [[nodiscard]] ModelChange gauss_newton(const Model& model, std::span<const ShotSignals> shots,
                                         const ModelChange& change, const ShotWeighting& weighting) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sonde::maxwell
