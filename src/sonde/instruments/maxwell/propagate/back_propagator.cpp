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
BackPropagator<T>::BackPropagator(const Problem& problem, Device device, Threads threads, Index shots)
    : impl_(device.is_cpu() ? std::make_unique<Impl>(problem, threads) : nullptr),
      device_(device.is_cpu() ? nullptr : std::make_unique<stepping::DeviceBackSweep<T>>(problem, device, shots)) {}
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
  auto of_sources = at.probes(here.sources);
  stepping::Residuals residuals{shot.receivers, residual};
  for (Index k = 0; k < at.lattice.extents[0]; ++k) {
    at.inject(injections[static_cast<std::size_t>(k)], true, at.whole_plane(k), residuals.of_end(steps));
    at.carry(true, at.whole_plane(k));
  }
  std::vector<char> adds(static_cast<std::size_t>(steps));
  PlaneHooks hooks;
  const auto added = [&](bool electric) {
    return [&, electric](const PlaneRows& rows) {
      if (adds[static_cast<std::size_t>(rows.step)] != 0) at.sums.add(at, electric, rows, *kept);
    };
  };
  if (wanted.electric()) hooks.before_electric = added(true);
  if (wanted.magnetic) hooks.after_magnetic = added(false);
  const Index most = at.steps_at_once(beside.after ? 1 : wanted.any() ? kept->steps_at_once() : steps);
  for (Index n = steps - 1; n >= 0;) {
    check_interrupt();
    const Index together = std::min(most, n + 1);
    for (Index t = 0; wanted.any() && t < together; ++t)
      adds[static_cast<std::size_t>(n - t)] = kept->begin_step(n - t) ? 1 : 0;
    at.make({.first_step = n,
             .steps = together,
             .direction = -1,
             .sources = injections,
             .amplitudes = residuals.of_steps(n, together),
             .hooks = hooks,
             .probes = &of_sources});
    for (Index t = 0; t < together; ++t, --n)
      stepping::read_sources(of_sources, t, at.problem.grid,
                             sources.subspan(static_cast<std::size_t>(n) * count, count));
    if (beside.after) beside.after(n + 1);
  }
  if (part != nullptr) part->add_up(sources);
}

template <class T>
SweepSums BackPropagator<T>::sums(Index shot) const {
  return device_ ? device_->sums(shot) : impl_->sums.taken();
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
PropagatorBytes BackPropagator<T>::bytes_for(const Grid& grid, std::size_t poles, const Wanted& wanted, Device device,
                                             Index shots) {
  PropagatorBytes made = Propagator<T>::bytes_for(grid, poles, device, shots);
  const std::size_t field = static_cast<std::size_t>(shots) *
                            (device.is_cpu() ? sizeof(T) * static_cast<std::size_t>(Lattice(grid).elements())
                                             : stepping::DeviceStepper<T>::field_bytes(grid));
  // What layers carry is as much as their psi, which is part of the state; here rows of both have margins.
  std::size_t psi = made.state, with_margins = 0;
  for (const Component c : grid.components()) {
    psi -= field * (is_electric(c) ? 1 + poles : 1);
    for (const CurlTerm& term : curl_terms(c))
      if (grid.has(term.of) && grid.has(term.along))
        with_margins +=
            sizeof(T) * static_cast<std::size_t>(stepping::psi_elements(grid, Lattice(grid), term, grid.order() / 2));
    made.lasting +=
        field * (is_electric(c) ? ((wanted.difference ? 1 : 0) + (wanted.sum ? 1 : 0)) * (wanted.squares ? 2 : 1) +
                                      (wanted.poles ? 2 * poles : 0)
                 : wanted.magnetic ? 1
                                   : 0);
  }
  const std::size_t more = device.is_cpu() ? 2 * with_margins - psi : psi;
  made.state += more;
  made.lasting += more;
  return made;
}

template class BackPropagator<float>;
template class BackPropagator<double>;

}  // namespace sonde::maxwell
