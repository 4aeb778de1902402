// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/propagate/born_propagator.h"

#include <cassert>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/instruments/maxwell/propagate/device_born_run.h"
#include "sonde/instruments/maxwell/propagate/linear_pair.h"

namespace sonde::maxwell {

using stepping::Injections;

namespace {

[[nodiscard]] bool any(const PlaneHooks& hooks) {
  return hooks.before_magnetic || hooks.after_magnetic || hooks.before_electric || hooks.after_electric;
}

/// One after the other.
PlaneHooks both(const PlaneHooks& first, const PlaneHooks& second) {
  const auto joined = [](const PlaneHooks::Hook& a, const PlaneHooks::Hook& b) {
    if (!a || !b) return a ? a : b;
    return PlaneHooks::Hook([a, b](const PlaneRows& rows) {
      a(rows);
      b(rows);
    });
  };
  return {joined(first.before_magnetic, second.before_magnetic), joined(first.after_magnetic, second.after_magnetic),
          joined(first.before_electric, second.before_electric), joined(first.after_electric, second.after_electric)};
}

}  // namespace

template <class T>
struct BornPropagator<T>::Impl : stepping::LinearPair<T> {
  using stepping::LinearPair<T>::LinearPair;
};

template <class T>
BornPropagator<T>::BornPropagator(const Problem& problem, const ComponentChange& change, Device device) {
  const StepChange by = step_change(change, problem.medium, problem.grid, problem.dt, problem.loss);
  if (device.is_cpu())
    impl_ = std::make_unique<Impl>(problem, by, stepping::Sense::forward);
  else if (!by.poles.empty())
    throw Error(ErrorKind::not_supported, "changes of Debye poles are not computed on a GPU").hint("run on the CPU");
  else
    device_ = std::make_unique<stepping::DeviceBornRun<T>>(problem, by, device);
}
template <class T>
BornPropagator<T>::~BornPropagator() = default;
template <class T>
BornPropagator<T>::BornPropagator(BornPropagator&&) noexcept = default;
template <class T>
BornPropagator<T>& BornPropagator<T>::operator=(BornPropagator&&) noexcept = default;

template <class T>
void BornPropagator<T>::clear() {
  device_ ? device_->clear() : impl_->clear();
}

template <class T>
void BornPropagator<T>::set_state(const State& background, const State& perturbation) {
  if (device_) return device_->set_state(background, perturbation);
  impl_->background.set_state(background);
  impl_->moved.set_state(perturbation);
}

template <class T>
void BornPropagator<T>::run(const Acquisition& shot, Index steps, std::span<const double> amplitudes,
                            std::span<const double> amplitude_changes, std::span<double> record,
                            std::span<double> record_change, const Beside& beside) {
  const std::size_t sources = shot.sources.size(), receivers = shot.receivers.size();
  assert(amplitudes.size() == static_cast<std::size_t>(steps) * sources);
  assert(record_change.size() == static_cast<std::size_t>(steps) * receivers);
  if (device_) {
    if (any(beside.background) || any(beside.change))
      throw Error(ErrorKind::not_supported, "work beside the planes of a linearised step: not on a GPU")
          .hint("run on the CPU");
    return device_->run(shot, steps, amplitudes, amplitude_changes, record, record_change, beside.before, beside.after);
  }
  Impl& at = *impl_;
  const Injections<T> injections = at.background.injections(shot.sources);
  const Injections<T> none(injections.size());
  auto of_fields = at.background.probes(shot.receivers), of_moved = at.moved.probes(shot.receivers);
  const PlaneHooks of_background = both(at.keep_hooks(), beside.background);
  const PlaneHooks of_change = both({.after_magnetic = [&](const PlaneRows& rows) { at.add_to_magnetic(rows); },
                                     .after_electric = [&](const PlaneRows& rows) { at.add_to_electric(rows); }},
                                    beside.change);
  for (Index n = 0; n < steps; ++n) {
    check_interrupt();
    if (beside.before) beside.before(n);
    const std::size_t of_sources = static_cast<std::size_t>(n) * sources;
    const std::size_t of_receivers = static_cast<std::size_t>(n) * receivers;
    at.background.make({.first_step = n,
                        .sources = injections,
                        .amplitudes = amplitudes.subspan(of_sources, sources),
                        .hooks = of_background,
                        .probes = &of_fields});
    const bool excited = !amplitude_changes.empty();
    at.moved.make({.first_step = n,
                   .sources = excited ? injections : none,
                   .amplitudes = excited ? amplitude_changes.subspan(of_sources, sources) : amplitude_changes,
                   .hooks = of_change,
                   .probes = &of_moved});
    if (!record.empty()) of_fields.take(0, record.subspan(of_receivers, receivers));
    of_moved.take(0, record_change.subspan(of_receivers, receivers));
    if (beside.after) beside.after(n);
  }
}

template <class T>
const T* BornPropagator<T>::row(Component c, Index k, Index j) const {
  assert(impl_ != nullptr);
  return impl_->background.row_of(c, k, j);
}
template <class T>
const T* BornPropagator<T>::change_row(Component c, Index k, Index j) const {
  assert(impl_ != nullptr);
  return impl_->moved.row_of(c, k, j);
}

template <class T>
const T* BornPropagator<T>::pole_row(std::size_t pole, Component c, Index k, Index j) const {
  return impl_->pole_row(impl_->background, pole, c, k, j);
}
template <class T>
const T* BornPropagator<T>::pole_change_row(std::size_t pole, Component c, Index k, Index j) const {
  return impl_->pole_row(impl_->moved, pole, c, k, j);
}

template <class T>
State BornPropagator<T>::change_state() const {
  if (device_)
    throw Error(ErrorKind::not_supported, "the change of the last fields is not known on a GPU").hint("run on the CPU");
  return impl_->moved.state();
}

template <class T>
std::size_t BornPropagator<T>::bytes() const {
  return device_ ? device_->bytes() : impl_->bytes();
}

template class BornPropagator<float>;
template class BornPropagator<double>;

}  // namespace sonde::maxwell
