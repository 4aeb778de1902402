// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/trajectory/born_trajectory.h"

#include <optional>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/maxwell/trajectory/field_samples.h"

namespace sonde::maxwell {

template <class T>
struct BornTrajectory<T>::Impl {
  std::array<std::optional<FieldSamples<T>>, 2> samples{};  ///< of the background, of the change

  Impl(const StoragePlan& plan, const TierBudgets& budgets, bool keeps_change) {
    if (plan.mode == StorageMode::recompute || plan.mode == StorageMode::reconstruct)
      throw Error(ErrorKind::not_supported, "a product with a Hessian does not compute its fields again")
          .hint("take " + setting("storage_mode") + " disk");
    require_kept(plan);
    const Tier tier = plan.mode == StorageMode::disk ? Tier::disk : Tier::host;
    samples[0].emplace(plan.layout, plan.steps, tier, plan.encoding, budgets);
    if (keeps_change) samples[1].emplace(plan.layout, plan.steps, tier, plan.encoding, budgets);
  }

  template <class Body>
  void for_each(const Body& body) {
    for (auto& each : samples)
      if (each) body(*each);
  }
};

template <class T>
BornTrajectory<T>::BornTrajectory(const StoragePlan& plan, const TierBudgets& budgets, bool keeps_change)
    : impl_(std::make_unique<Impl>(plan, budgets, keeps_change)) {}
template <class T>
BornTrajectory<T>::~BornTrajectory() = default;
template <class T>
BornTrajectory<T>::BornTrajectory(BornTrajectory&&) noexcept = default;
template <class T>
BornTrajectory<T>& BornTrajectory<T>::operator=(BornTrajectory&&) noexcept = default;

template <class T>
void BornTrajectory<T>::run(BornPropagator<T>& fields, const Acquisition& shot, Index steps,
                            std::span<const double> amplitudes, std::span<const double> amplitude_changes,
                            std::span<double> record, std::span<double> record_change,
                            const std::function<void()>& stepped) {
  auto& [background, change] = impl_->samples;
  const typename FieldSamples<T>::Rows rows = [&](Component c, Index k, Index j) { return fields.row(c, k, j); };
  const typename FieldSamples<T>::Rows changes = [&](Component c, Index k, Index j) {
    return fields.change_row(c, k, j);
  };
  const typename FieldSamples<T>::PoleRows poles = [&](std::size_t p, Component c, Index k, Index j) {
    return fields.pole_row(p, c, k, j);
  };
  const typename FieldSamples<T>::PoleRows pole_changes = [&](std::size_t p, Component c, Index k, Index j) {
    return fields.pole_change_row(p, c, k, j);
  };
  impl_->for_each([](FieldSamples<T>& each) { each.begin_run(0); });
  fields.run(shot, steps, amplitudes, amplitude_changes, record, record_change,
             {.before = [&](Index n) { impl_->for_each([&](FieldSamples<T>& each) { each.before_step(n); }); },
              .background = background->hooks(rows, poles),
              .change = change ? change->hooks(changes, pole_changes) : PlaneHooks{},
              .after =
                  [&](Index) {
                    impl_->for_each([](FieldSamples<T>& each) { each.after_step(); });
                    if (stepped) stepped();
                  }});
  background->end_run(rows, steps);
  if (change) change->end_run(changes, steps);
}

template <class T>
KeptFields<T>& BornTrajectory<T>::background() {
  return *impl_->samples[0];
}
template <class T>
KeptFields<T>& BornTrajectory<T>::change() {
  return *impl_->samples[1];
}

template class BornTrajectory<float>;
template class BornTrajectory<double>;

}  // namespace sonde::maxwell
