// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <optional>
#include <vector>

#include "sonde/instruments/maxwell/trajectory/field_samples.h"
#include "sonde/instruments/maxwell/trajectory/trajectory.h"

namespace sonde::maxwell {

/// States of a run at some of its blocks of steps, in the memory of the host, and the fields of the steps of one block,
/// where the work is done; the others are computed again from the states, in the order of checkpointing.h.
template <class T>
class RecomputedRun : public Trajectory<T> {
 public:
  RecomputedRun(const StoragePlan& plan, const TierBudgets& budgets, Device device);
  void run(Propagator<T>& fields, const Acquisition& shot, Index steps, std::span<const double> amplitudes,
           std::span<double> record, const std::function<void()>& stepped) override;

  [[nodiscard]] NodeBox box() const override { return samples_.box(); }
  [[nodiscard]] bool begin_step(Index n) override;
  [[nodiscard]] typename KeptFields<T>::Row row(Index n, Component c, Index k, Index j) const override {
    return samples_.row(n, c, k, j);
  }
  [[nodiscard]] const T* pole_row(Index n, std::size_t pole, Component c, Index k, Index j) const override {
    return samples_.pole_row(n, pole, c, k, j);
  }
  [[nodiscard]] Index elements_of_shot() const override { return samples_.elements_of_shot(); }
  [[nodiscard]] Stream* stream() const override { return samples_.stream(); }

 private:
  /// Runs from block `at` to the beginning of `block`, saving states as the schedule has it, and records that block.
  void reach(Index at, Index block, std::span<double> record);
  void save(Index block);
  [[nodiscard]] Index first_step(Index block) const { return block * block_steps_; }
  [[nodiscard]] Index steps_of(Index block) const { return std::min(block_steps_, steps_ - first_step(block)); }

  struct Saved {
    Index block;
    std::vector<std::byte> state;
  };
  Index states_, block_steps_;
  Budget host_;
  std::size_t state_bytes_;
  Reservation held_;
  FieldSamples<T> samples_;
  std::vector<Saved> saved_{};  ///< the earliest first; one more is made only where the plan has room
  std::vector<std::vector<std::byte>> idle_{};
  std::optional<RecordedRun<T>> run_{};
  Index steps_ = 0, recorded_ = -1;
};

extern template class RecomputedRun<float>;
extern template class RecomputedRun<double>;

}  // namespace sonde::maxwell
