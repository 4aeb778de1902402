// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/propagate/propagator.h"

#include <fmt/format.h>

#include <cassert>
#include <cstring>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/instruments/maxwell/propagate/device_stepper.h"
#include "sonde/instruments/maxwell/propagate/grid_part.h"
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
Propagator<T>::Propagator(const Problem& problem, Device device, Threads threads, Index shots)
    : impl_(device.is_cpu() ? std::make_unique<Impl>(problem, stepping::Sense::forward, threads) : nullptr),
      device_(device.is_cpu()
                  ? nullptr
                  : std::make_unique<stepping::DeviceStepper<T>>(problem, device, stepping::Sense::forward, shots)) {}
template <class T>
Propagator<T>::~Propagator() = default;
template <class T>
Propagator<T>::Propagator(Propagator&&) noexcept = default;
template <class T>
Propagator<T>& Propagator<T>::operator=(Propagator&&) noexcept = default;

template <class T>
void Propagator<T>::clear() {
  device_ ? device_->clear() : impl_->clear();
}

template <class T>
void Propagator<T>::set_state(const State& state) {
  device_ ? device_->set_state(state) : impl_->set_state(state);
}

template <class T>
State Propagator<T>::state() const {
  return device_ ? device_->state() : impl_->state();
}

template <class T>
std::size_t Propagator<T>::state_bytes() const {
  if (device_) return device_->state_bytes();
  std::size_t total = 0;
  impl_->for_each_changing([&](const T*, std::size_t count) { total += count * sizeof(T); });
  return total;
}

template <class T>
void Propagator<T>::save(std::span<std::byte> to) const {
  assert(to.size() == state_bytes());
  if (device_) return device_->save(to);
  impl_->for_each_changing([&](const T* elements, std::size_t count) {
    std::memcpy(to.data(), elements, count * sizeof(T));
    to = to.subspan(count * sizeof(T));
  });
}

template <class T>
void Propagator<T>::restore(std::span<const std::byte> from) {
  assert(from.size() == state_bytes());
  if (device_) return device_->restore(from);
  impl_->for_each_changing([&](T* elements, std::size_t count) {
    std::memcpy(elements, from.data(), count * sizeof(T));
    from = from.subspan(count * sizeof(T));
  });
}

template <class T>
const T* Propagator<T>::row(Component c, Index k, Index j) const {
  require_host("a row of the fields");
  return impl_->row_of(c, k, j);
}

template <class T>
typename Propagator<T>::Factors Propagator<T>::factors(Component c, Index k, Index j) const {
  require_host("factors of a step");
  const Index row = impl_->table_row(k, j);
  if (!is_electric(c)) return {.cq = impl_->cq[place(c)][row]};
  return {.ca = impl_->ca[place(c)][row], .cb = impl_->cb[place(c)][row]};
}

template <class T>
View<T, 3> Propagator<T>::field(Component c) {
  return device_ ? device_->on_host(c) : impl_->field(c);
}

template <class T>
void Propagator<T>::fields_changed() {
  device_ ? device_->put_back() : impl_->clear_walls();
}

template <class T>
const T* Propagator<T>::pole_row(std::size_t pole, Component c, Index k, Index j) const {
  return static_cast<const T*>(impl_->poles[pole][place(c)]->polarisation.data()) + impl_->lattice.row(k, j);
}

template <class T>
void Propagator<T>::run(const Acquisition& shot, Index steps, std::span<const double> amplitudes,
                        std::span<double> record, const Beside& beside) {
  const std::size_t sources = shot.sources.size(), receivers = shot.receivers.size();
  assert(amplitudes.size() == static_cast<std::size_t>(steps) * sources);
  assert(record.size() == static_cast<std::size_t>(steps) * receivers);
  if (device_) return run_on_device(shot, steps, amplitudes, record, beside);
  const GridPart* const part = impl_->problem.part.get();
  const Acquisition here =
      part != nullptr ? Acquisition{part->injected(shot.sources), part->read(shot.receivers)} : shot;
  const Injections<T> injections = impl_->injections(here.sources);
  auto of_receivers = impl_->probes(here.receivers);
  const Index most = impl_->steps_at_once(beside.before || beside.after ? 1 : steps, beside.together);
  together_ = most;
  for (Index n = 0; n < steps;) {
    check_interrupt();
    const Index together = std::min(most, steps - n);
    if (beside.before) beside.before(n);
    impl_->make({.first_step = n,
                 .steps = together,
                 .sources = injections,
                 .amplitudes = amplitudes.subspan(static_cast<std::size_t>(n) * sources,
                                                  static_cast<std::size_t>(together) * sources),
                 .hooks = beside.planes,
                 .probes = &of_receivers});
    for (Index t = 0; t < together; ++t, ++n) {
      of_receivers.take(t, record.subspan(static_cast<std::size_t>(n) * receivers, receivers));
      if (beside.counted) beside.counted();
    }
    if (beside.after) beside.after(n - 1, *this);
  }
  if (part != nullptr) part->add_up(record);
}

template <class T>
void Propagator<T>::require_host(const char* what) const {
  if (device_)
    throw Error(ErrorKind::not_supported, fmt::format("{}: the fields are in the memory of a GPU", what))
        .hint("run on the CPU");
}

template <class T>
void Propagator<T>::run_on_device(const Acquisition& shot, Index steps, std::span<const double> amplitudes,
                                  std::span<double> record, const Beside& beside) {
  if (beside.planes.before_magnetic || beside.planes.after_magnetic || beside.planes.before_electric ||
      beside.planes.after_electric)
    require_host("work beside the planes of a step");
  using Fields = stepping::DeviceStepper<T>;
  device_->prepare(shot.sources, amplitudes, shot.receivers, steps);
  keep_on_device(beside.kept);
  const bool alone = !beside.before && !beside.after;
  for (Index n = 0; n < steps;) {
    check_interrupt();
    if (alone && n + Fields::at_once <= steps) {
      device_->steps_at_once();
      n += Fields::at_once;
      for (Index t = 0; beside.counted && t < Fields::at_once; ++t) beside.counted();
      continue;
    }
    if (beside.before) beside.before(n);
    device_->step();
    if (beside.after) beside.after(n, *this);
    if (beside.counted) beside.counted();
    ++n;
  }
  const std::vector<double> samples = device_->samples();
  std::copy(samples.begin(), samples.end(), record.begin());
}

template <class T>
void Propagator<T>::keep_on_device(const std::optional<Kept>& kept) {
  device::Sampled<T> made;
  if (kept) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      made.first[axis] = kept->box.first[axis];
      made.extent[axis] = kept->box.extent(axis);
    }
    Index at = 0;
    for (const Component c : kept->components) {
      if (kept->to != nullptr) made.to[place(c)] = kept->to + at;
      if (kept->halves != nullptr) made.halves[place(c)] = kept->halves + at;
      at += kept->box.count();
    }
    made.stride = kept->stride;
    made.shot = kept->shot;
  }
  device_->sample_steps(made);
}

template <class T>
Stream* Propagator<T>::stream() const {
  return device_ ? &device_->stream() : nullptr;
}

template <class T>
void Propagator<T>::replay(Graph::Replay how) {
  if (device_) device_->replay(how);
}

template <class T>
void Propagator<T>::sample(const NodeBox& box, std::span<const Component> components, Index shot, T* to) const {
  sample_change(box, components, shot, {}, to, nullptr);
}

template <class T>
void Propagator<T>::sample_change(const NodeBox& box, std::span<const Component> components, Index shot,
                                  const Before& before, T* difference, T* sum) const {
  assert(device_ != nullptr);
  device::BoxFields<T> made = device_->in_box(box);
  made.shot = shot;
  made.before_shot = before.shot;
  Index at = 0;
  for (const Component c : components) {
    made.field[made.fields++] = {.field = device_->field(c),
                                 .before = before.fields != nullptr ? before.fields + at : nullptr,
                                 .to_difference = difference != nullptr ? difference + at : nullptr,
                                 .to_sum = sum != nullptr ? sum + at : nullptr};
    at += box.count();
  }
  device_->sample(made);
}

template <class T>
std::size_t Propagator<T>::bytes() const {
  return device_ ? device_->bytes() : impl_->bytes();
}

template <class T>
PropagatorBytes Propagator<T>::bytes_for(const Grid& grid, std::size_t poles, Device device, Index shots) {
  if (!device.is_cpu()) return stepping::DeviceStepper<T>::bytes_for(grid, poles, stepping::Sense::forward, shots);
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
      made.state += sizeof(T) * static_cast<std::size_t>(stepping::psi_elements(grid, lattice, term, 0));
    }
  }
  made.lasting += made.state;
  return made;
}

template <class T>
const Grid& Propagator<T>::grid() const {
  return problem().grid;
}
template <class T>
const Problem& Propagator<T>::problem() const {
  return device_ ? device_->problem() : impl_->problem;
}
template <class T>
Threads Propagator<T>::threads() const {
  return impl_->threads;
}

template class Propagator<float>;
template class Propagator<double>;

}  // namespace sonde::maxwell
