// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/trajectory/trajectory.h"

#include "sonde/instruments/maxwell/trajectory/field_samples.h"
#include "sonde/instruments/maxwell/trajectory/recomputed_run.h"
#include "sonde/instruments/maxwell/trajectory/reconstructed_run.h"

namespace sonde::maxwell {
namespace {

Tier tier_of(const StoragePlan& plan) {
  return plan.mode == StorageMode::disk ? Tier::disk : plan.mode == StorageMode::device ? Tier::device : Tier::host;
}

/// All steps of the plan, in memory or in a file.
template <class T>
class StoredRun : public Trajectory<T> {
 public:
  StoredRun(const StoragePlan& plan, const TierBudgets& budgets, Device device)
      : samples_(plan.layout, plan.steps, tier_of(plan), plan.encoding, budgets, device) {}
  void run(Propagator<T>& fields, const Acquisition& shot, Index steps, std::span<const double> amplitudes,
           std::span<double> record, const std::function<void()>& stepped) override {
    samples_.record({fields, shot, amplitudes, stepped}, 0, steps, record);
  }
  [[nodiscard]] NodeBox box() const override { return samples_.box(); }
  [[nodiscard]] bool begin_step(Index n) override { return samples_.begin_step(n); }
  [[nodiscard]] Index steps_at_once() const override { return samples_.steps_at_once(); }
  [[nodiscard]] typename KeptFields<T>::Row row(Index n, Component c, Index k, Index j) const override {
    return samples_.row(n, c, k, j);
  }
  [[nodiscard]] const T* pole_row(Index n, std::size_t pole, Component c, Index k, Index j) const override {
    return samples_.pole_row(n, pole, c, k, j);
  }
  [[nodiscard]] Index elements_of_shot() const override { return samples_.elements_of_shot(); }
  [[nodiscard]] Stream* stream() const override { return samples_.stream(); }

 private:
  FieldSamples<T> samples_;
};

}  // namespace

template <class T>
std::unique_ptr<Trajectory<T>> make_trajectory(const StoragePlan& plan, const TierBudgets& budgets, Device device) {
  require_kept(plan);
  if (plan.mode == StorageMode::recompute) return std::make_unique<RecomputedRun<T>>(plan, budgets, device);
  if (plan.mode == StorageMode::reconstruct) return std::make_unique<ReconstructedRun<T>>(plan, budgets);
  return std::make_unique<StoredRun<T>>(plan, budgets, device);
}

template std::unique_ptr<Trajectory<float>> make_trajectory(const StoragePlan&, const TierBudgets&, Device);
template std::unique_ptr<Trajectory<double>> make_trajectory(const StoragePlan&, const TierBudgets&, Device);

}  // namespace sonde::maxwell
