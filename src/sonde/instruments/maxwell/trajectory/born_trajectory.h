// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "sonde/engine/memory/tier.h"
#include "sonde/instruments/maxwell/propagate/born_propagator.h"
#include "sonde/instruments/maxwell/propagate/kept_fields.h"
#include "sonde/instruments/maxwell/trajectory/storage.h"

namespace sonde::maxwell {

/// A linearised run that can be taken back: the fields of the background and, for second derivatives, of its change.
template <class T>
class BornTrajectory {
 public:
  /// The plan is that of each of the two. Throws what Store() throws, Error(not_supported) for a plan that computes
  /// again, Error(bad_input) for one that keeps nothing.
  BornTrajectory(const StoragePlan& plan, const TierBudgets& budgets, bool keeps_change);
  ~BornTrajectory();
  BornTrajectory(BornTrajectory&&) noexcept;
  BornTrajectory& operator=(BornTrajectory&&) noexcept;

  /// As BornPropagator::run(), from the fields as they are.
  void run(BornPropagator<T>& fields, const Acquisition& shot, Index steps, std::span<const double> amplitudes,
           std::span<const double> amplitude_changes, std::span<double> record, std::span<double> record_change,
           const std::function<void()>& stepped = {});

  [[nodiscard]] KeptFields<T>& background();
  /// Only where it is kept.
  [[nodiscard]] KeptFields<T>& change();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

extern template class BornTrajectory<float>;
extern template class BornTrajectory<double>;

}  // namespace sonde::maxwell
