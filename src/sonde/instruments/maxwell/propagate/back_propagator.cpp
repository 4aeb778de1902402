// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/propagate/back_propagator.h"

#include <cassert>

#include "sonde/engine/base/interrupt.h"
#include "sonde/instruments/maxwell/propagate/back_sweep.h"

namespace sonde::maxwell {

using stepping::Injections;
using stepping::Layer;
using stepping::Sense;

template <class T>
struct BackPropagator<T>::Impl : stepping::Stepper<T> {
  stepping::SumArrays<T> sums;

  Impl(const Problem& p, Threads by) : stepping::Stepper<T>(p, Sense::transposed, by), sums(this->problem.grid) {}

  /// psi as the run left it becomes the gradient of its start. That of E has begun the step before the first with the w
  /// that is left; that of H, of u = -v, has its decay still before it.
  void end_psi(double& psi, Component c, std::size_t t, const Triple& at, double w) const {
    const Layer<T>& layer = this->layers[static_cast<std::size_t>(c)][t];
    const CurlTerm term = curl_terms(c)[t];
    const Index i = at[dimension(term.along)];
    if (layer.empty() || !layer.has(i)) return;
    psi = is_electric(c) ? psi - term.sign * w : -static_cast<double>(layer.b[static_cast<std::size_t>(i)]) * psi;
  }
};

template <class T>
BackPropagator<T>::BackPropagator(const Problem& problem, Threads threads)
    : impl_(std::make_unique<Impl>(problem, threads)) {}
template <class T>
BackPropagator<T>::~BackPropagator() = default;
template <class T>
BackPropagator<T>::BackPropagator(BackPropagator&&) noexcept = default;
template <class T>
BackPropagator<T>& BackPropagator<T>::operator=(BackPropagator&&) noexcept = default;

template <class T>
void BackPropagator<T>::run(const Acquisition& shot, Index steps, std::span<const double> residual, KeptFields<T>* kept,
                            const Wanted& wanted, std::span<double> sources) {
  const std::size_t count = shot.sources.size();
  assert(residual.size() == static_cast<std::size_t>(steps) * shot.receivers.size());
  assert(sources.size() == static_cast<std::size_t>(steps) * count);
  stepping::require_currents(shot);
  Impl& at = *impl_;
  at.sums.make(wanted);
  at.clear();
  const Injections<T> injections = at.injections(shot.receivers);
  const std::vector<Index> bounds = at.parts();
  stepping::Residuals residuals{shot.receivers, residual};
  for (Index k = 0; k < at.lattice.extents[0]; ++k) {
    at.inject(injections[static_cast<std::size_t>(k)], true, residuals.of_end(steps));
    at.carry(true, k);
  }
  for (Index n = steps - 1; n >= 0; --n) {
    check_interrupt();
    const std::span<double> gradient = sources.subspan(static_cast<std::size_t>(n) * count, count);
    stepping::read_sources(at, shot.sources, true, gradient);
    PlaneHooks hooks;
    const bool adds = wanted.any() && kept->begin_step(n);
    if (adds && wanted.electric()) hooks.before_electric = [&](Index k) { at.sums.add_plane(at, true, k, *kept); };
    if (adds && wanted.magnetic) hooks.after_magnetic = [&](Index k) { at.sums.add_plane(at, false, k, *kept); };
    at.step(bounds, injections, residuals.of_step(n), hooks);
    stepping::read_sources(at, shot.sources, false, gradient);
  }
}

template <class T>
SweepSums BackPropagator<T>::sums() const {
  return impl_->sums.taken();
}

template <class T>
void BackPropagator<T>::clear_sums() {
  impl_->sums.clear();
}

template <class T>
State BackPropagator<T>::start() const {
  State made = impl_->state();
  const Grid& grid = impl_->problem.grid;
  for (const Component c : grid.components()) {
    const auto which = static_cast<std::size_t>(c);
    for_each_node(grid, [&](const Triple& n, std::size_t node) {
      const Index row = impl_->table_row(n[0], n[1]);
      double& value = made.fields[which][node];
      for (std::size_t t = 0; t < 2; ++t)
        if (!made.psi[which][t].empty()) impl_->end_psi(made.psi[which][t][node], c, t, n, value);
      // From w = cb (lambda_E + what the poles would pass on next) and u = -cq lambda_H.
      const auto factor = static_cast<double>((is_electric(c) ? impl_->cb : impl_->cq)[place(c)][row][n[2]]);
      value = factor == 0 ? 0 : (is_electric(c) ? value : -value) / factor;
      for (std::size_t p = 0; is_electric(c) && factor != 0 && p < impl_->poles.size(); ++p)
        value -= static_cast<double>(impl_->poles[p][place(c)]->bP[row][n[2]]) * made.polarisation[p][place(c)][node];
    });
  }
  return made;
}

template <class T>
std::size_t BackPropagator<T>::bytes() const {
  return impl_->bytes() + impl_->sums.bytes();
}

template <class T>
PropagatorBytes BackPropagator<T>::bytes_for(const Grid& grid, std::size_t poles, const Wanted& wanted) {
  PropagatorBytes made = Propagator<T>::bytes_for(grid, poles);
  const std::size_t field = sizeof(T) * static_cast<std::size_t>(Lattice(grid).elements());
  // What layers carry is as much as their psi, which is part of the state.
  std::size_t carried = made.state;
  for (const Component c : grid.components()) {
    carried -= field * (is_electric(c) ? 1 + poles : 1);
    made.lasting +=
        field * (is_electric(c)    ? (wanted.difference ? 1 : 0) + (wanted.sum ? 1 : 0) + (wanted.energy ? 1 : 0)
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
