// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/propagate/propagator.h"

#include <cassert>
#include <cstring>

#include "sonde/engine/base/interrupt.h"
#include "sonde/instruments/maxwell/propagate/stepper.h"

namespace sonde::maxwell {

using stepping::Injections;

template <class T>
struct Propagator<T>::Impl : stepping::Stepper<T> {
  using stepping::Stepper<T>::Stepper;
};

template <class T>
Propagator<T>::Propagator(const Problem& problem, Threads threads)
    : impl_(std::make_unique<Impl>(problem, stepping::Sense::forward, threads)) {}
template <class T>
Propagator<T>::~Propagator() = default;
template <class T>
Propagator<T>::Propagator(Propagator&&) noexcept = default;
template <class T>
Propagator<T>& Propagator<T>::operator=(Propagator&&) noexcept = default;

template <class T>
void Propagator<T>::clear() {
  impl_->clear();
}

template <class T>
void Propagator<T>::set_state(const State& state) {
  impl_->set_state(state);
}

template <class T>
State Propagator<T>::state() const {
  return impl_->state();
}

template <class T>
std::size_t Propagator<T>::state_bytes() const {
  std::size_t total = 0;
  impl_->for_each_changing([&](const T*, std::size_t count) { total += count * sizeof(T); });
  return total;
}

template <class T>
void Propagator<T>::save(std::span<std::byte> to) const {
  assert(to.size() == state_bytes());
  impl_->for_each_changing([&](const T* elements, std::size_t count) {
    std::memcpy(to.data(), elements, count * sizeof(T));
    to = to.subspan(count * sizeof(T));
  });
}

template <class T>
void Propagator<T>::restore(std::span<const std::byte> from) {
  assert(from.size() == state_bytes());
  impl_->for_each_changing([&](T* elements, std::size_t count) {
    std::memcpy(elements, from.data(), count * sizeof(T));
    from = from.subspan(count * sizeof(T));
  });
}

template <class T>
const T* Propagator<T>::row(Component c, Index k, Index j) const {
  return impl_->row_of(c, k, j);
}

template <class T>
View<T, 3> Propagator<T>::field(Component c) {
  const Triple& n = impl_->lattice.extents;
  View<T, 3> made(impl_->row_of(c, 0, 0), n[0], n[1], n[2]);
  made.stride[0] = impl_->lattice.stride(Axis::z);
  made.stride[1] = impl_->lattice.pitch;
  return made;
}

template <class T>
void Propagator<T>::fields_changed() {
  impl_->clear_walls();
}

template <class T>
void Propagator<T>::run(const Acquisition& shot, Index steps, std::span<const double> amplitudes,
                        std::span<double> record, const Beside& beside) {
  const std::size_t sources = shot.sources.size(), receivers = shot.receivers.size();
  assert(amplitudes.size() == static_cast<std::size_t>(steps) * sources);
  assert(record.size() == static_cast<std::size_t>(steps) * receivers);
  const Injections<T> injections = impl_->injections(shot.sources);
  const std::vector<Index> bounds = impl_->parts();
  for (Index n = 0; n < steps; ++n) {
    check_interrupt();
    if (beside.before) beside.before(n);
    impl_->step(bounds, injections, amplitudes.subspan(static_cast<std::size_t>(n) * sources, sources), beside.planes);
    impl_->read(shot.receivers, record.subspan(static_cast<std::size_t>(n) * receivers, receivers));
    if (beside.after) beside.after(n, *this);
  }
}

template <class T>
std::size_t Propagator<T>::bytes() const {
  return impl_->bytes();
}

template <class T>
PropagatorBytes Propagator<T>::bytes_for(const Grid& grid, std::size_t poles) {
  const Lattice lattice(grid);
  const auto elements = static_cast<std::size_t>(lattice.elements()), nodes = static_cast<std::size_t>(grid.count());
  PropagatorBytes made;
  for (const Component c : grid.components()) {
    // A field, and its factors if no two rows are equal; of E one more, and a polarisation and three factors per pole.
    const std::size_t factors = is_electric(c) ? 2 + 3 * poles : 1;
    made.state += sizeof(T) * elements * (is_electric(c) ? 1 + poles : 1);
    made.lasting += sizeof(T) * nodes * factors;
    made.lasting += factors * static_cast<std::size_t>(lattice.rows()) * sizeof(T*);
    made.in_preparation += sizeof(double) * nodes * factors;
    for (const CurlTerm& term : curl_terms(c)) {
      if (!grid.has(term.of) || !grid.has(term.along)) continue;
      const Index layers = grid.low(term.along) + grid.high(term.along), extent = grid.extent(term.along);
      made.state += sizeof(T) * static_cast<std::size_t>(
                                    (term.along == Axis::x ? lattice.rows() : lattice.elements() / extent) * layers);
    }
  }
  made.lasting += made.state;
  return made;
}

template <class T>
const Grid& Propagator<T>::grid() const {
  return impl_->problem.grid;
}

template class Propagator<float>;
template class Propagator<double>;

}  // namespace sonde::maxwell
