// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/propagate/propagator.h"

#include <cassert>

#include "sonde/engine/base/interrupt.h"
#include "sonde/instruments/maxwell/propagate/stepper.h"

namespace sonde::maxwell {

using stepping::Injections;
using stepping::Layer;

template <class T>
struct Propagator<T>::Impl : stepping::Stepper<T> {
  using stepping::Stepper<T>::Stepper;
};

template <class T>
Propagator<T>::Propagator(const Problem& problem) : impl_(std::make_unique<Impl>(problem)) {}
template <class T>
Propagator<T>::~Propagator() = default;
template <class T>
Propagator<T>::Propagator(Propagator&&) noexcept = default;
template <class T>
Propagator<T>& Propagator<T>::operator=(Propagator&&) noexcept = default;

template <class T>
void Propagator<T>::clear() {
  const auto zero = [](Array& array) {
    if (!array.empty()) std::fill_n(static_cast<T*>(array.data()), array.count(), T(0));
  };
  for (Array& field : impl_->fields) zero(field);
  for (auto& component : impl_->layers)
    for (Layer<T>& layer : component) zero(layer.psi);
  for (auto& pole : impl_->poles)
    for (auto& rows : pole)
      if (rows) zero(rows->polarisation);
}

template <class T>
void Propagator<T>::set_state(const State& state) {
  impl_->for_each_state_row(state, [](const std::vector<double>& values, T* row, Index first, Index count, int sign) {
    for (Index x = 0; x < count; ++x) row[x] = static_cast<T>(sign * values[static_cast<std::size_t>(first + x)]);
  });
  impl_->clear_walls();
}

template <class T>
State Propagator<T>::state() const {
  State made = make_state(impl_->problem);
  impl_->for_each_state_row(made, [](std::vector<double>& values, const T* row, Index first, Index count, int sign) {
    for (Index x = 0; x < count; ++x) values[static_cast<std::size_t>(first + x)] = sign * static_cast<double>(row[x]);
  });
  return made;
}

template <class T>
void Propagator<T>::run(const Acquisition& shot, Index steps, std::span<const double> amplitudes,
                        std::span<double> record, const Observer& observer) {
  const std::size_t sources = shot.sources.size(), receivers = shot.receivers.size();
  assert(amplitudes.size() == static_cast<std::size_t>(steps) * sources);
  assert(record.size() == static_cast<std::size_t>(steps) * receivers);
  const Injections<T> injections = impl_->injections(shot.sources);
  const std::vector<Index> bounds = impl_->parts();
  for (Index n = 0; n < steps; ++n) {
    check_interrupt();
    impl_->step(bounds, injections, amplitudes.subspan(static_cast<std::size_t>(n) * sources, sources));
    impl_->read(shot.receivers, record.subspan(static_cast<std::size_t>(n) * receivers, receivers));
    if (observer) observer(n, *this);
  }
}

template <class T>
std::span<T> Propagator<T>::row(Component c, Index k, Index j) {
  return {impl_->row_of(c, k, j), static_cast<std::size_t>(impl_->width())};
}
template <class T>
std::span<const T> Propagator<T>::row(Component c, Index k, Index j) const {
  return {impl_->row_of(c, k, j), static_cast<std::size_t>(impl_->width())};
}

template <class T>
void Propagator<T>::fields_changed() {
  impl_->clear_walls();
}

template <class T>
std::size_t Propagator<T>::bytes() const {
  std::size_t sum = 0;
  for (const Array& field : impl_->fields) sum += field.allocated_bytes();
  for (const auto* tables : {&impl_->ca, &impl_->cb, &impl_->cq})
    for (const RowTable<T>& table : *tables) sum += table.bytes();
  for (const auto& component : impl_->layers)
    for (const Layer<T>& layer : component) sum += layer.psi.allocated_bytes();
  for (const auto& pole : impl_->poles)
    for (const auto& rows : pole)
      if (rows) sum += rows->polarisation.allocated_bytes() + rows->aP.bytes() + rows->bP.bytes() + rows->cP.bytes();
  return sum;
}

template <class T>
typename Propagator<T>::Bytes Propagator<T>::bytes_for(const Grid& grid, std::size_t poles) {
  const Lattice lattice(grid);
  const auto elements = static_cast<std::size_t>(lattice.elements()), nodes = static_cast<std::size_t>(grid.count());
  Bytes made;
  for (const Component c : grid.components()) {
    // A field, and its factors if no two rows are equal; of E one more, and a polarisation and three factors per pole.
    const std::size_t factors = is_electric(c) ? 2 + 3 * poles : 1;
    made.lasting += sizeof(T) * (elements * (is_electric(c) ? 1 + poles : 1) + nodes * factors);
    made.lasting += factors * static_cast<std::size_t>(lattice.rows()) * sizeof(T*);
    made.in_preparation += sizeof(double) * nodes * factors;
    for (const CurlTerm& term : curl_terms(c)) {
      if (!grid.has(term.of) || !grid.has(term.along)) continue;
      const Index layers = grid.low(term.along) + grid.high(term.along), extent = grid.extent(term.along);
      made.lasting += sizeof(T) * static_cast<std::size_t>(
                                      (term.along == Axis::x ? lattice.rows() : lattice.elements() / extent) * layers);
    }
  }
  return made;
}

template <class T>
const Grid& Propagator<T>::grid() const {
  return impl_->problem.grid;
}

template class Propagator<float>;
template class Propagator<double>;

}  // namespace sonde::maxwell
