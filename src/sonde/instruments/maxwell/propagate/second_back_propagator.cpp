// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/propagate/second_back_propagator.h"

#include <cassert>

#include "sonde/engine/base/interrupt.h"
#include "sonde/instruments/maxwell/propagate/back_sweep.h"
#include "sonde/instruments/maxwell/propagate/linear_pair.h"

namespace sonde::maxwell {

using stepping::Injections;
using stepping::Sense;

template <class T>
struct SecondBackPropagator<T>::Impl : stepping::LinearPair<T> {
  stepping::SumArrays<T> sums, of_poles;

  Impl(const Problem& problem, const StepChange& by)
      : stepping::LinearPair<T>(problem, by, Sense::transposed),
        sums(this->background.problem.grid),
        of_poles(this->background.problem.grid) {}

  /// d(w dE) = dw dE + w d(dE).
  void add(bool electric, const PlaneRows& rows, const KeptFields<T>& kept, const KeptFields<T>& kept_change) {
    sums.add(this->moved, electric, rows, kept);
    sums.add(this->background, electric, rows, kept_change);
    if (electric && !of_poles.poles.empty()) of_poles.add(this->background, electric, rows, kept);
  }
};

template <class T>
SecondBackPropagator<T>::SecondBackPropagator(const Problem& problem, const ComponentChange& change)
    : impl_(std::make_unique<Impl>(problem,
                                   step_change(change, problem.medium, problem.grid, problem.dt, problem.loss))) {}
template <class T>
SecondBackPropagator<T>::~SecondBackPropagator() = default;
template <class T>
SecondBackPropagator<T>::SecondBackPropagator(SecondBackPropagator&&) noexcept = default;
template <class T>
SecondBackPropagator<T>& SecondBackPropagator<T>::operator=(SecondBackPropagator&&) noexcept = default;

template <class T>
void SecondBackPropagator<T>::run(const Acquisition& shot, Index steps, std::span<const double> residual,
                                  std::span<const double> residual_change, KeptFields<T>& kept,
                                  KeptFields<T>& kept_change, const Wanted& wanted, std::span<double> source_changes) {
  const std::size_t count = shot.sources.size();
  assert(residual.size() == static_cast<std::size_t>(steps) * shot.receivers.size());
  assert(source_changes.size() == static_cast<std::size_t>(steps) * count);
  stepping::require_currents(shot);
  Impl& at = *impl_;
  const std::size_t poles = at.background.poles.size();
  at.sums.make(wanted, poles);
  if (wanted.poles) at.of_poles.make({.difference = false, .sum = false, .poles = true}, poles);
  at.sums.clear();
  at.of_poles.clear();
  at.clear();
  const Injections<T> injections = at.background.injections(shot.receivers);
  auto of_sources = at.moved.probes(shot.sources);
  stepping::Residuals residuals{shot.receivers, residual}, changes{shot.receivers, residual_change};
  for (Index k = 0; k < at.background.lattice.extents[0]; ++k) {
    const auto& here = injections[static_cast<std::size_t>(k)];
    const PlaneRows rows = at.background.whole_plane(k);
    at.keep(true, rows);
    at.background.inject(here, true, rows, residuals.of_end(steps));
    at.moved.inject(here, true, rows, changes.of_end(steps));
    at.add_to_electric(rows);
    at.background.carry(true, rows);
    at.moved.carry(true, rows);
  }
  for (Index n = steps - 1; n >= 0; --n) {
    check_interrupt();
    const bool adds = wanted.any() && kept.begin_step(n) && kept_change.begin_step(n);
    PlaneHooks background = at.keep_hooks(),
               moved{.after_magnetic = [&](const PlaneRows&rows) { at.add_to_magnetic(rows); },
                     .after_electric = [&](const PlaneRows&rows) { at.add_to_electric(rows); }};
    // The sums want w and dw of before this step, and u and du of after it, when the unchanged sweep has made all of
    // its step.
    if (adds && wanted.electric())
      background.before_electric = [&](const PlaneRows& rows) {
        at.keep(true, rows);
        at.add(true, rows, kept, kept_change);
      };
    if (adds && wanted.magnetic)
      moved.after_magnetic = [&](const PlaneRows& rows) {
        at.add_to_magnetic(rows);
        at.add(false, rows, kept, kept_change);
      };
    at.background.make(
        {.first_step = n, .sources = injections, .amplitudes = residuals.of_steps(n, 1), .hooks = background});
    at.moved.make({.first_step = n,
                   .sources = injections,
                   .amplitudes = changes.of_steps(n, 1),
                   .hooks = moved,
                   .probes = &of_sources});
    stepping::read_sources(of_sources, 0, at.moved.problem.grid,
                           source_changes.subspan(static_cast<std::size_t>(n) * count, count));
  }
}

template <class T>
SweepSums SecondBackPropagator<T>::sums() const {
  return impl_->sums.taken();
}

template <class T>
SweepSums SecondBackPropagator<T>::pole_sums() const {
  return impl_->of_poles.taken();
}

template <class T>
std::size_t SecondBackPropagator<T>::bytes() const {
  return impl_->bytes() + impl_->sums.bytes() + impl_->of_poles.bytes();
}

template class SecondBackPropagator<float>;
template class SecondBackPropagator<double>;

}  // namespace sonde::maxwell
