// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/propagate/back_propagator.h"

#include <cassert>
#include <utility>

#include "sonde/engine/base/interrupt.h"
#include "sonde/instruments/maxwell/propagate/back_sweep.h"
#include "sonde/instruments/maxwell/propagate/device_back_sweep.h"
#include "sonde/instruments/maxwell/propagate/grid_part.h"
#include "sonde/instruments/maxwell/propagate/start_gradient.h"

namespace sonde::maxwell {

using stepping::Injections;
using stepping::Layer;
using stepping::Sense;

template <class T>
struct BackPropagator<T>::Impl : stepping::Stepper<T> {
  stepping::SumArrays<T> sums;

  Impl(const Problem& p, Threads by) : stepping::Stepper<T>(p, Sense::transposed, by), sums(this->problem.grid) {}

  [[nodiscard]] State made(State of, stepping::RunEnd end) const {
    return stepping::converted(
        std::move(of), end, this->problem.grid,
        [&](Component c, const Triple& node, std::size_t) {
          const RowTable<T>& table = (is_electric(c) ? this->cb : this->cq)[place(c)];
          return static_cast<double>(table[this->table_row(node[0], node[1])][node[2]]);
        },
        [&](std::size_t p, Component c, const Triple& node, std::size_t) {
          return static_cast<double>(this->poles[p][place(c)]->bP[this->table_row(node[0], node[1])][node[2]]);
        },
        [&](Component c, std::size_t t, Index i) {
          const Layer<T>& layer = this->layers[static_cast<std::size_t>(c)][t];
          return !layer.empty() && layer.has(i) ? static_cast<double>(layer.b[static_cast<std::size_t>(i)]) : -1.0;
        });
  }
};

template <class T>
BackPropagator<T>::BackPropagator(const Problem& problem, Threads threads)
    : impl_(std::make_unique<Impl>(problem, threads)) {}
template <class T>
BackPropagator<T>::BackPropagator(const Problem& problem, Device device, Threads threads)
    : impl_(device.is_cpu() ? std::make_unique<Impl>(problem, threads) : nullptr),
      device_(device.is_cpu() ? nullptr : std::make_unique<stepping::DeviceBackSweep<T>>(problem, device)) {}
template <class T>
BackPropagator<T>::~BackPropagator() = default;
template <class T>
BackPropagator<T>::BackPropagator(BackPropagator&&) noexcept = default;
template <class T>
BackPropagator<T>& BackPropagator<T>::operator=(BackPropagator&&) noexcept = default;

template <class T>
void BackPropagator<T>::run(const Acquisition& shot, Index steps, std::span<const double> residual, KeptFields<T>* kept,
                            const Wanted& wanted, std::span<double> sources, const Beside& beside) {
  const std::size_t count = shot.sources.size();
  assert(residual.size() == static_cast<std::size_t>(steps) * shot.receivers.size());
  assert(sources.size() == static_cast<std::size_t>(steps) * count);
  stepping::require_currents(shot);
  if (device_) return device_->run(shot, steps, residual, kept, wanted, sources, beside.end, beside.after);
  Impl& at = *impl_;
  at.sums.make(wanted, at.poles.size());
  at.clear();
  if (beside.end != nullptr) at.set_state(at.made(*beside.end, stepping::RunEnd::last));
  const GridPart* const part = at.problem.part.get();
  const Acquisition here =
      part != nullptr ? Acquisition{part->read(shot.sources), part->injected(shot.receivers)} : shot;
  const Injections<T> injections = at.injections(here.receivers);
  const std::vector<Index> bounds = at.parts();
  stepping::Residuals residuals{shot.receivers, residual};
  for (Index k = 0; k < at.lattice.extents[0]; ++k) {
    at.inject(injections[static_cast<std::size_t>(k)], true, residuals.of_end(steps));
    at.carry(true, k);
  }
  for (Index n = steps - 1; n >= 0; --n) {
    check_interrupt();
    const std::span<double> gradient = sources.subspan(static_cast<std::size_t>(n) * count, count);
    stepping::read_sources(at, here.sources, true, gradient);
    PlaneHooks hooks;
    const bool adds = wanted.any() && kept->begin_step(n);
    if (adds && wanted.electric()) hooks.before_electric = [&](Index k) { at.sums.add_plane(at, true, k, *kept); };
    if (adds && wanted.magnetic) hooks.after_magnetic = [&](Index k) { at.sums.add_plane(at, false, k, *kept); };
    at.step(bounds, injections, residuals.of_step(n), hooks);
    stepping::read_sources(at, here.sources, false, gradient);
    if (beside.after) beside.after(n);
  }
  if (part != nullptr) part->add_up(sources);
}

template <class T>
SweepSums BackPropagator<T>::sums() const {
  return device_ ? device_->sums() : impl_->sums.taken();
}

template <class T>
void BackPropagator<T>::clear_sums() {
  device_ ? device_->clear_sums() : impl_->sums.clear();
}

template <class T>
State BackPropagator<T>::start() const {
  return device_ ? device_->start() : impl_->made(impl_->state(), stepping::RunEnd::first);
}

template <class T>
View<T, 3> BackPropagator<T>::field(Component c) {
  return device_ ? device_->on_host(c) : impl_->field(c);
}
template <class T>
const Grid& BackPropagator<T>::grid() const {
  return device_ ? device_->grid() : impl_->problem.grid;
}

template <class T>
std::size_t BackPropagator<T>::bytes() const {
  return device_ ? device_->bytes() : impl_->bytes() + impl_->sums.bytes();
}

template <class T>
PropagatorBytes BackPropagator<T>::bytes_for(const Grid& grid, std::size_t poles, const Wanted& wanted, Device device) {
  PropagatorBytes made = Propagator<T>::bytes_for(grid, poles, device);
  const std::size_t field = device.is_cpu() ? sizeof(T) * static_cast<std::size_t>(Lattice(grid).elements())
                                            : stepping::DeviceStepper<T>::field_bytes(grid);
  // What layers carry is as much as their psi, which is part of the state.
  std::size_t carried = made.state;
  for (const Component c : grid.components()) {
    carried -= field * (is_electric(c) ? 1 + poles : 1);
    made.lasting += field * (is_electric(c) ? (wanted.difference ? 1 : 0) + (wanted.sum ? 1 : 0) +
                                                  (wanted.energy ? 1 : 0) + (wanted.poles ? 2 * poles : 0)
                             : wanted.magnetic ? 1
                                               : 0);
  }
  made.state += carried;
  made.lasting += carried;
  return made;
}

template class BackPropagator<float>;
template class BackPropagator<double>;

}  // namespace sonde::maxwell
