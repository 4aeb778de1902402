// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/propagate/back_propagator.h"

#include <cassert>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/instruments/maxwell/propagate/stepper.h"

namespace sonde::maxwell {

using stepping::Injections;
using stepping::Layer;
using stepping::Sense;

template <class T>
struct BackPropagator<T>::Impl : stepping::Stepper<T> {
  using Base = stepping::Stepper<T>;
  std::array<Array, 3> difference{}, sum{}, magnetic{};  ///< in rows of the lattice; empty until they are wanted

  explicit Impl(const Problem& p) : Base(p, Sense::transposed) {}

  void make_sums(const Wanted& wanted) {
    const Triple& n = this->lattice.extents;
    const auto make = [&](Array& array) {
      if (array.empty()) array = Array::zeros(Device::cpu(), {n[0], n[1], this->lattice.pitch}, dtype_of<T>);
    };
    for (const Component c : this->problem.grid.components()) {
      if (is_electric(c) && wanted.difference) make(difference[place(c)]);
      if (is_electric(c) && wanted.sum) make(sum[place(c)]);
      if (!is_electric(c) && wanted.magnetic) make(magnetic[place(c)]);
    }
  }

  [[nodiscard]] T* row_in(Array& array, Index k, Index j) {
    return array.empty() ? nullptr : static_cast<T*>(array.data()) + this->lattice.row(k, j);
  }

  /// Adds sign w (new - old) and sign w (new + old), where there is a place for them.
  static void add_row(const typename KeptFields<T>::Row& kept, const T* w, T sign, T* differences, T* sums,
                      Index width) {
    const TransposeKernels<T>& with = transpose_kernels<T>();
    if (kept.before != nullptr) return with.add_changes(w, sign, kept.before, kept.after, differences, sums, width);
    if (differences != nullptr) with.add_products(w, sign, kept.difference, differences, width);
    if (sums != nullptr) with.add_products(w, sign, kept.sum, sums, width);
  }

  /// v of H is -u.
  void add_plane(bool electric, Index k, const KeptFields<T>& kept) {
    const NodeBox box = kept.box();
    if (k < box.first[0] || k >= box.last[0]) return;
    const Index first = box.first[2];
    const auto from_first = [&](Array& array, Index j) {
      T* row = row_in(array, k, j);
      return row == nullptr ? nullptr : row + first;
    };
    for (const Component c : this->problem.grid.components())
      for (Index j = box.first[1]; is_electric(c) == electric && j < box.last[1]; ++j)
        add_row(kept.row(c, k, j), this->row_of(c, k, j) + first, electric ? T(1) : T(-1),
                from_first(electric ? difference[place(c)] : magnetic[place(c)], j),
                electric ? from_first(sum[place(c)], j) : nullptr, box.extent(2));
  }

  void read_sources(const std::vector<Point>& points, bool electric, std::span<double> samples) {
    for (std::size_t s = 0; s < points.size(); ++s) {
      if (is_electric(points[s].component) != electric) continue;
      double value = 0;
      for (const PointTap& tap : points[s].taps) {
        const Index row = tap.node / this->width();
        value += tap.weight *
                 static_cast<double>(this->data(
                     points[s].component)[row * this->lattice.pitch + Lattice::room + tap.node % this->width()]);
      }
      // Of J: -w, of M: -v = u.
      samples[s] = (electric ? -1 : 1) * value / this->problem.grid.cell_volume();
    }
  }

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
BackPropagator<T>::BackPropagator(const Problem& problem) : impl_(std::make_unique<Impl>(problem)) {}
template <class T>
BackPropagator<T>::~BackPropagator() = default;
template <class T>
BackPropagator<T>::BackPropagator(BackPropagator&&) noexcept = default;
template <class T>
BackPropagator<T>& BackPropagator<T>::operator=(BackPropagator&&) noexcept = default;

template <class T>
void BackPropagator<T>::run(const Acquisition& shot, Index steps, std::span<const double> residual, KeptFields<T>* kept,
                            const Wanted& wanted, std::span<double> sources) {
  const std::size_t points = shot.receivers.size(), count = shot.sources.size();
  assert(residual.size() == static_cast<std::size_t>(steps) * points);
  assert(sources.size() == static_cast<std::size_t>(steps) * count);
  if (std::any_of(shot.sources.begin(), shot.sources.end(), [](const Point& point) { return point.hard; }))
    throw Error(ErrorKind::not_supported, "a source that sets the field has no gradient of its current");
  Impl& at = *impl_;
  at.make_sums(wanted);
  at.clear();
  const Injections<T> injections = at.injections(shot.receivers);
  const std::vector<Index> bounds = at.parts();
  const auto sample = [&](Index n, std::size_t r) {
    return n < 0 ? 0.0 : residual[static_cast<std::size_t>(n) * points + r];
  };
  std::vector<double> now(points);
  // The residual of the last E enters before anything moves.
  for (std::size_t r = 0; r < points; ++r) now[r] = steps > 0 ? sample(steps - 1, r) : 0;
  for (Index k = 0; k < at.lattice.extents[0]; ++k) {
    at.inject(injections[static_cast<std::size_t>(k)], true, now);
    at.carry(true, k);
  }
  for (Index n = steps - 1; n >= 0; --n) {
    check_interrupt();
    for (std::size_t r = 0; r < points; ++r) now[r] = sample(is_electric(shot.receivers[r].component) ? n - 1 : n, r);
    const std::span<double> gradient = sources.subspan(static_cast<std::size_t>(n) * count, count);
    at.read_sources(shot.sources, true, gradient);
    PlaneHooks hooks;
    const bool adds = wanted.any() && kept->begin_step(n);
    if (adds && wanted.electric()) hooks.before_electric = [&](Index k) { at.add_plane(true, k, *kept); };
    if (adds && wanted.magnetic) hooks.after_magnetic = [&](Index k) { at.add_plane(false, k, *kept); };
    at.step(bounds, injections, now, hooks);
    at.read_sources(shot.sources, false, gradient);
  }
}

template <class T>
SweepSums BackPropagator<T>::sums() const {
  SweepSums made;
  const Grid& grid = impl_->problem.grid;
  const auto take = [&](Array& array, std::vector<double>& values) {
    if (array.empty()) return;
    values.reserve(static_cast<std::size_t>(grid.count()));
    for (Index k = 0; k < grid.extent(Axis::z); ++k)
      for (Index j = 0; j < grid.extent(Axis::y); ++j) {
        const T* row = impl_->row_in(array, k, j);
        values.insert(values.end(), row, row + impl_->width());
      }
  };
  for (std::size_t c = 0; c < 3; ++c) {
    take(impl_->difference[c], made.difference[c]);
    take(impl_->sum[c], made.sum[c]);
    take(impl_->magnetic[c], made.magnetic[c]);
  }
  return made;
}

template <class T>
void BackPropagator<T>::clear_sums() {
  for (auto* arrays : {&impl_->difference, &impl_->sum, &impl_->magnetic})
    for (Array& array : *arrays) Impl::zero(array);
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
  std::size_t total = impl_->bytes();
  for (const auto* arrays : {&impl_->difference, &impl_->sum, &impl_->magnetic})
    for (const Array& array : *arrays) total += array.allocated_bytes();
  return total;
}

template <class T>
PropagatorBytes BackPropagator<T>::bytes_for(const Grid& grid, std::size_t poles, const Wanted& wanted) {
  PropagatorBytes made = Propagator<T>::bytes_for(grid, poles);
  const std::size_t field = sizeof(T) * static_cast<std::size_t>(Lattice(grid).elements());
  // What layers carry is as much as their psi, which is part of the state.
  std::size_t carried = made.state;
  for (const Component c : grid.components()) {
    carried -= field * (is_electric(c) ? 1 + poles : 1);
    made.lasting += field * (is_electric(c)    ? (wanted.difference ? 1 : 0) + (wanted.sum ? 1 : 0)
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
