// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "sonde/instruments/maxwell/propagate/reversed_propagator.h"
#include "sonde/instruments/maxwell/trajectory/field_samples.h"
#include "sonde/instruments/maxwell/trajectory/trajectory.h"

namespace sonde::maxwell {

/// A run of which the fields around the model are stored and those inside are taken back step by step, on the CPU.
template <class T>
class ReconstructedRun : public Trajectory<T> {
 public:
  ReconstructedRun(const StoragePlan& plan, const TierBudgets& budgets);
  void run(Propagator<T>& fields, const Acquisition& shot, Index steps, std::span<const double> amplitudes,
           std::span<double> record, const std::function<void()>& stepped) override;

  [[nodiscard]] NodeBox box() const override { return wanted_.box; }
  [[nodiscard]] bool begin_step(Index n) override;
  [[nodiscard]] typename KeptFields<T>::Row row(Index n, Component c, Index k, Index j) const override;

 private:
  [[nodiscard]] Index place_after(Index k, Index j) const;
  void keep_after(bool electric, const PlaneRows& at);

  SampleLayout wanted_;
  NodeBox box_;  ///< that moves
  Budget host_;
  Reservation held_;
  FieldSamples<T> shell_;
  std::array<std::vector<T>, 6> after_{};  ///< fields behind the step that is taken back
  std::optional<RecordedRun<T>> run_{};
  std::unique_ptr<ReversedPropagator<T>> back_{};
  Index step_ = 0;  ///< E of which is there
};

extern template class ReconstructedRun<float>;
extern template class ReconstructedRun<double>;

}  // namespace sonde::maxwell
