// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/propagate/born_propagator.h"

#include <cassert>

#include "sonde/engine/base/interrupt.h"
#include "sonde/instruments/maxwell/propagate/stepper.h"

namespace sonde::maxwell {

using stepping::DebyeRows;
using stepping::Injections;
using stepping::Stepper;

template <class T>
struct BornPropagator<T>::Impl {
  Stepper<T> background, moved;
  std::array<Array, 6> before{};  ///< fields of the background before its step, in rows of the lattice
  /// Factors of a step's change; of H times the change itself, of E without cb. Empty where nothing changes.
  std::array<RowTable<T>, 3> difference, sum, magnetic;

  Impl(const Problem& problem, const StepChange& by)
      : background(problem),
        moved(problem),
        difference{rows_of(by.difference[0]), rows_of(by.difference[1]), rows_of(by.difference[2])},
        sum{rows_of(by.sum[0]), rows_of(by.sum[1]), rows_of(by.sum[2])},
        magnetic{rows_of(by.magnetic[0]), rows_of(by.magnetic[1]), rows_of(by.magnetic[2])} {
    const Triple& n = background.lattice.extents;
    for (const Component c : problem.grid.components())
      if (changes(c))
        before[stepping::which(c)] = Array::zeros(Device::cpu(), {n[0], n[1], background.lattice.pitch}, dtype_of<T>);
  }

  [[nodiscard]] RowTable<T> rows_of(const std::vector<double>& values) const {
    const bool any = std::any_of(values.begin(), values.end(), [](double v) { return v != 0; });
    return background.table(any ? values : std::vector<double>{});
  }
  [[nodiscard]] bool changes(Component c) const {
    const std::size_t p = place(c);
    return is_electric(c) ? !difference[p].empty() || !sum[p].empty() : !magnetic[p].empty();
  }
  [[nodiscard]] T* before_row(Component c, Index k, Index j) {
    return static_cast<T*>(before[stepping::which(c)].data()) + background.lattice.row(k, j);
  }

  template <class Body>
  void for_each_row(bool electric, Index k, const Body& body) {
    for (const Component c : background.problem.grid.components())
      for (Index j = 0; is_electric(c) == electric && changes(c) && j < background.lattice.extents[1]; ++j)
        body(c, j, background.table_row(k, j));
  }

  void keep(bool electric, Index k) {
    for_each_row(electric, k, [&](Component c, Index j, Index) {
      std::copy_n(background.row_of(c, k, j), background.width(), before_row(c, k, j));
    });
  }

  void add_to_magnetic(Index k) {
    for_each_row(false, k, [&](Component c, Index j, Index at) {
      const T *old = before_row(c, k, j), *now = background.row_of(c, k, j), *by = magnetic[place(c)][at];
      T* to = moved.row_of(c, k, j);
      for (Index x = 0; x < moved.width(); ++x) to[x] += by[x] * (now[x] - old[x]);
      moved.fill_ends(c, to);
    });
  }

  void add_to_electric(Index k) {
    for_each_row(true, k, [&](Component c, Index j, Index at) {
      const T *old = before_row(c, k, j), *now = background.row_of(c, k, j), *cb = moved.cb[place(c)][at];
      T* to = moved.row_of(c, k, j);
      const auto add = [&](const RowTable<T>& table, T sign) {
        if (table.empty()) return;
        const T* by = table[at];
        for (Index x = 0; x < moved.width(); ++x) to[x] += cb[x] * by[x] * (now[x] + sign * old[x]);
        // What enters E in a step enters its poles in that step too.
        for (auto& pole : moved.poles) {
          DebyeRows<T>& rows = *pole[place(c)];
          T* p = static_cast<T*>(rows.polarisation.data()) + moved.lattice.row(k, j);
          const T* bP = rows.bP[at];
          for (Index x = 0; x < moved.width(); ++x) p[x] += bP[x] * (cb[x] * by[x] * (now[x] + sign * old[x]));
        }
      };
      add(difference[place(c)], T(-1));
      add(sum[place(c)], T(1));
      moved.fill_ends(c, to);
    });
  }
};

template <class T>
BornPropagator<T>::BornPropagator(const Problem& problem, const ComponentChange& change)
    : impl_(std::make_unique<Impl>(problem,
                                   step_change(change, problem.medium, problem.grid, problem.dt, problem.loss))) {}
template <class T>
BornPropagator<T>::~BornPropagator() = default;
template <class T>
BornPropagator<T>::BornPropagator(BornPropagator&&) noexcept = default;
template <class T>
BornPropagator<T>& BornPropagator<T>::operator=(BornPropagator&&) noexcept = default;

template <class T>
void BornPropagator<T>::clear() {
  impl_->background.clear();
  impl_->moved.clear();
}

template <class T>
void BornPropagator<T>::set_state(const State& background, const State& perturbation) {
  impl_->background.set_state(background);
  impl_->moved.set_state(perturbation);
}

template <class T>
void BornPropagator<T>::run(const Acquisition& shot, Index steps, std::span<const double> amplitudes,
                            std::span<const double> amplitude_changes, std::span<double> record,
                            std::span<double> record_change, const std::function<void()>& stepped) {
  Impl& at = *impl_;
  const std::size_t sources = shot.sources.size(), receivers = shot.receivers.size();
  assert(amplitudes.size() == static_cast<std::size_t>(steps) * sources);
  assert(record_change.size() == static_cast<std::size_t>(steps) * receivers);
  const Injections<T> injections = at.background.injections(shot.sources);
  const Injections<T> none(injections.size());
  const std::vector<Index> bounds = at.background.parts();
  const PlaneHooks keep{.before_magnetic = [&](Index k) { at.keep(false, k); },
                        .before_electric = [&](Index k) { at.keep(true, k); }};
  const PlaneHooks add{.after_magnetic = [&](Index k) { at.add_to_magnetic(k); },
                       .after_electric = [&](Index k) { at.add_to_electric(k); }};
  for (Index n = 0; n < steps; ++n) {
    check_interrupt();
    const std::size_t of_sources = static_cast<std::size_t>(n) * sources;
    const std::size_t of_receivers = static_cast<std::size_t>(n) * receivers;
    at.background.step(bounds, injections, amplitudes.subspan(of_sources, sources), keep);
    if (amplitude_changes.empty())
      at.moved.step(bounds, none, {}, add);
    else
      at.moved.step(bounds, injections, amplitude_changes.subspan(of_sources, sources), add);
    if (!record.empty()) at.background.read(shot.receivers, record.subspan(of_receivers, receivers));
    at.moved.read(shot.receivers, record_change.subspan(of_receivers, receivers));
    if (stepped) stepped();
  }
}

template <class T>
std::size_t BornPropagator<T>::bytes() const {
  std::size_t total = impl_->background.bytes() + impl_->moved.bytes();
  for (const Array& field : impl_->before) total += field.allocated_bytes();
  for (const auto* tables : {&impl_->difference, &impl_->sum, &impl_->magnetic})
    for (const RowTable<T>& table : *tables) total += table.bytes();
  return total;
}

template class BornPropagator<float>;
template class BornPropagator<double>;

}  // namespace sonde::maxwell
