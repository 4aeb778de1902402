// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "sonde/engine/memory/tier.h"
#include "sonde/instruments/maxwell/propagate/kept_fields.h"
#include "sonde/instruments/maxwell/propagate/propagator.h"
#include "sonde/instruments/maxwell/trajectory/storage.h"

namespace sonde::maxwell {

/// A run that can be taken back: BackPropagator::run() asks it for the fields, on the device of the run.
template <class T>
class Trajectory : public KeptFields<T> {
 public:
  /// Runs `steps` steps from the fields as they are, keeping what the plan says; `stepped` is called after each step
  /// that is computed, here and while the run is taken back. `fields`, `shot` and `amplitudes` must last until then,
  /// and nobody else may use `fields`. `record`: [step][receiver].
  virtual void run(Propagator<T>& fields, const Acquisition& shot, Index steps, std::span<const double> amplitudes,
                   std::span<double> record, const std::function<void()>& stepped = {}) = 0;
};

/// Of runs on this device. Reserves what the plan holds. Throws what Store() throws; Error(bad_input) for a plan that
/// keeps nothing.
template <class T>
[[nodiscard]] std::unique_ptr<Trajectory<T>> make_trajectory(const StoragePlan& plan, const TierBudgets& budgets,
                                                             Device device = Device::cpu());

extern template std::unique_ptr<Trajectory<float>> make_trajectory(const StoragePlan&, const TierBudgets&, Device);
extern template std::unique_ptr<Trajectory<double>> make_trajectory(const StoragePlan&, const TierBudgets&, Device);

}  // namespace sonde::maxwell
