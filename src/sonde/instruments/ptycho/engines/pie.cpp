// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/engines/pie.h"

#include <algorithm>
#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/instruments/ptycho/model/device_kernels.h"
#include "sonde/instruments/ptycho/model/look_ahead.h"
#include "sonde/instruments/ptycho/model/pattern_kernels.h"
#include "sonde/instruments/ptycho/scan/probe_support.h"

namespace sonde::ptycho {
namespace {

constexpr Index probe_pieces = 16;  // of a group, whatever the threads, so that their sum has one order

template <class Real>
View<std::complex<Real>, 2> window_of(Array& object, Index slice, const Placement& at, Index rows, Index cols) {
  const auto all = object.view<std::complex<Real>, 3>();
  View<std::complex<Real>, 2> window(&all(slice, at.row, at.col), rows, cols);
  window.stride[0] = all.stride[1];
  return window;
}

Array double_precision(const Array& probe) {
  Array copy(Device::cpu(), probe.shape(), DType::c128);
  auto to = copy.view<complex128, 3>();
  const auto from = probe.view<complex64, 3>();
  std::copy(from.data, from.data + from.count(), to.data);
  return copy;
}

}  // namespace

void PieSettings::describe(Fields& fields) {
  fields.add("step_object", step_object, {.help = "step of the object", .min = 0, .max = 2, .changeable = true});
  fields.add("step_probe", step_probe, {.help = "step of the probe", .min = 0, .max = 2, .changeable = true});
  fields.add("alpha_object", alpha_object,
             {.help = "object: 1 divides by the largest illumination, 0 by the local one",
              .min = 0,
              .max = 1,
              .changeable = true});
  fields.add("alpha_probe", alpha_probe, {.help = "the same for the probe", .min = 0, .max = 1, .changeable = true});
  fields.choice("order", order, {{"sequential", PieOrder::sequential}, {"disjoint", PieOrder::disjoint}},
                {.help = "frame after frame, or groups of frames whose probes do not meet"});
  fields.add("support", support,
             {.help = "disjoint: share of the probe's power that must not meet", .min = 0.5, .max = 1});
  fields.add("momentum_every", momentum_every,
             {.help = "updates between kicks along the object's velocity; 0: none", .min = 0});
  fields.add("friction", friction,
             {.help = "share of its velocity that the object keeps", .min = 0, .max = 1, .changeable = true});
  fields.add("kick", kick,
             {.help = "share of its velocity that the object moves by", .min = 0, .max = 1, .changeable = true});
  describe_loss(fields, loss);
}

MemoryNeed PieSettings::memory(const WorkSizes& sizes, const BatchSizes&) const {
  const std::size_t object = sizes.object_pixels() * sizes.complex_bytes();
  if (momentum_every > 0) return {4 * object, "the object before, its velocity, both as the iteration began"};
  if (order == PieOrder::sequential) return {0, "the estimate itself is changed"};
  return {object + static_cast<std::size_t>(probe_pieces) * sizes.wave_bytes(), "a copy of the object, probe steps"};
}

MemoryNeed PieSettings::memory_there(const WorkSizes& sizes, const BatchSizes&, Index) const {
  const std::size_t object = sizes.object_pixels() * sizes.complex_bytes();
  if (momentum_every > 0) return {3 * object, "the object with a group's changes, the one before, and its velocity"};
  return {object, "the object with a group's changes"};
}

template <class Real>
Pie<Real>::Pie(const PieSettings& settings, Workbench<Real>& bench)
    : settings_(settings),
      exposures_([&] { return Exposure<Real>(bench.model()); }),
      copies_([&] { return Copy(static_cast<std::size_t>(bench.model().pixels())); }) {
  if (settings_.momentum_every > 0) {
    if (settings_.order != PieOrder::sequential || bench.state().type != ObjectType::complex)
      throw Error(ErrorKind::not_supported, "momentum is for complex objects, frame after frame")
          .hint("order = \"sequential\", or momentum_every = 0");
    velocity_ = Mirrored(Array::zeros(Device::cpu(), bench.state().object.shape(), bench.state().object.dtype()));
    before_ = Mirrored(Array::zeros(Device::cpu(), bench.state().object.shape(), bench.state().object.dtype()));
    updates_ = Mirrored(Array::zeros(Device::cpu(), Shape{1}, DType::i64));
  }
  if (settings_.order == PieOrder::sequential || bench.device_pass() != nullptr) return;
  next_ = bench.state().object.clone();
  probe_steps_.resize(static_cast<std::size_t>(probe_pieces));
}

template <class Real>
void Pie<Real>::commit(State& state, Index slice, const Exposure<Real>& exposure, const Box& box, const Copy& copy,
                       Array& changed) {
  const auto before = exposure.window(slice);
  const auto after = window_of<Real>(changed, slice, exposure.placement(), before.extent[0], before.extent[1]);
  const Placement& at = exposure.placement();
  const bool potential = state.type == ObjectType::potential;
  const View<Real, 3> phase = potential ? state.phase.view<Real, 3>() : View<Real, 3>{};
  for (Index row = box.row; row < box.row + box.rows; ++row)
    for (Index col = box.col; col < box.col + box.cols; ++col) {
      const Complex updated = copy[static_cast<std::size_t>(row * before.extent[1] + col)];
      if (!potential) {
        after(row, col) = updated;
        continue;
      }
      // Only the step of the phase: the imaginary part of conj(O) dO.
      Real& phi = phase(slice, at.row + row, at.col + col);
      const Complex old = before(row, col);
      phi += old.real() * updated.imag() - old.imag() * updated.real();
      after(row, col) = {std::cos(phi), std::sin(phi)};
    }
}

template <class Real>
FrameSums Pie<Real>::update(Workbench<Real>& bench, const Iteration& iteration, Index frame, const Box& box,
                            Exposure<Real>& exposure, Copy& copy, Array& changed) {
  State& state = bench.state();
  const Model<Real>& model = bench.model();
  const bool in_place = &changed == &state.object && state.type == ObjectType::complex;
  exposure.forward(state, bench.spectrum(), frame);
  const FrameSums fit = exposure.residual(frame);
  exposure.back();
  for (Index s = model.slices() - 1; s >= 0; --s) {
    const auto before = exposure.window(s);
    const Complex* incident = exposure.incident(s);
    View<Complex, 2> target(copy.data(), model.rows(), model.cols());
    if (in_place)
      target = window_of<Real>(changed, s, exposure.placement(), model.rows(), model.cols());
    else
      for (Index row = 0; row < model.rows(); ++row)
        std::copy(&before(row, 0), &before(row, 0) + model.cols(), &target(row, 0));
    // Between slices the wave itself is updated, with a full step; before the first one it is the probe.
    const double probe_step = s == 0 ? settings_.step_probe : 1.0;
    cpu::update_object<Real>(incident, exposure.waves(), model.modes(),
                             {.step = static_cast<Real>(settings_.step_object),
                              .alpha = static_cast<Real>(settings_.alpha_object),
                              .largest = cpu::largest_norm<Real>(incident, model.modes(), model.pixels())},
                             {.step = static_cast<Real>(probe_step),
                              .alpha = static_cast<Real>(settings_.alpha_probe),
                              .largest = cpu::largest_norm<Real>(before)},
                             iteration.object_free, target);
    if (!in_place && iteration.object_free) commit(state, s, exposure, box, copy, changed);
    if (s > 0) exposure.free_space_back(s);
  }
  return fit;
}

template <class Real>
std::vector<EngineMemory> Pie<Real>::memory() {
  if (velocity_.empty()) return {};
  return {{"velocity", &velocity_.host()}, {"moved", &before_.host()}, {"updates", &updates_.host()}};
}

template <class Real>
void Pie<Real>::push(State& state) {
  std::int64_t& updates = updates_.host().view<std::int64_t, 1>()[0];
  if (++updates < settings_.momentum_every) return;
  updates = 0;
  Complex* velocity = velocity_.host().view<Complex, 3>().data;
  Complex* before = before_.host().view<Complex, 3>().data;
  Complex* object = state.object.view<Complex, 3>().data;
  const Real eta = static_cast<Real>(settings_.friction), gamma = static_cast<Real>(settings_.kick);
  for (Index i = 0; i < state.object.count(); ++i) {
    velocity[i] = eta * velocity[i] + (object[i] - before[i]);
    object[i] += gamma * velocity[i];
    before[i] = object[i];
  }
}

template <class Real>
void Pie<Real>::exchange_before(const State& state) {
  const Complex* object = state.object.view<Complex, 3>().data;
  Complex* before = before_.host().view<Complex, 3>().data;
  for (Index i = 0; i < before_.count(); ++i) before[i] = object[i] - before[i];
}

template <class Real>
void Pie<Real>::sequential(Workbench<Real>& bench, const Iteration& iteration) {
  State& state = bench.state();
  const bool with_momentum = !velocity_.empty();
  if (with_momentum) exchange_before(state);
  const Model<Real>& model = bench.model();
  const Box whole{0, 0, model.rows(), model.cols()};
  const Batches order =
      sequential_batches(bench.active(), {bench.seed(), static_cast<std::uint64_t>(iteration.number)});
  const Index waves = model.modes() * model.pixels();
  Worker alone;
  Exposure<Real>& exposure = exposures_[alone];
  for (std::size_t i = 0; i < order.members.size(); ++i) {
    const Index frame = order.members[i];
    check_interrupt();
    look_ahead(order.members, static_cast<Index>(i),
               [&](std::span<const Index> frames) { model.measurement().will_read(frames); });
    bench.fit()[static_cast<std::size_t>(frame)] =
        update(bench, iteration, frame, whole, exposure, copies_[alone], state.object);
    if (iteration.object_free && with_momentum) push(state);
    if (!iteration.probe_free) continue;
    if (exposure.shifted()) exposure.unshifted_spectrum();
    Array& probe = exposure.shifted() ? bench.spectrum() : state.probe;
    cpu::add<Real>(Real(1), exposure.waves(), probe.view<Complex, 3>().data, waves);
  }
  if (with_momentum) exchange_before(state);
  if (!iteration.probe_free || bench.spectrum().empty()) return;
  bench.probe_from_spectrum();
  bench.renew_spectrum();  // so that what follows depends only on the probe, also after a restart
}

template <class Real>
void Pie<Real>::finish_group(State& state, std::span<const Index> group, const Box& box) {
  parallel_for(static_cast<Index>(group.size()), 1, [&](Index first, Index last, Worker&) {
    for (Index i = first; i < last; ++i) {
      const Placement& at = state.placements[static_cast<std::size_t>(group[static_cast<std::size_t>(i)])];
      for (Index s = 0; s < state.slices(); ++s) {
        const Placement corner{at.row + box.row, at.col + box.col, 0, 0};
        const auto from = window_of<Real>(next_, s, corner, box.rows, box.cols);
        const auto to = window_of<Real>(state.object, s, corner, box.rows, box.cols);
        for (Index row = 0; row < box.rows; ++row) std::copy(&from(row, 0), &from(row, 0) + box.cols, &to(row, 0));
      }
    }
  });
}

template <class Real>
Batches Pie<Real>::disjoint_batches(const Workbench<Real>& bench, State& state, const Iteration& iteration,
                                    Box& support) const {
  support = probe_support(state.probe.dtype() == DType::c128 ? state.probe.clone() : double_precision(state.probe),
                          settings_.support);
  return DisjointGroups(bench.active(), state.placements, support)
      .batches({bench.seed(), static_cast<std::uint64_t>(iteration.number)});
}

template <class Real>
void Pie<Real>::disjoint(Workbench<Real>& bench, const Iteration& iteration) {
  State& state = bench.state();
  const Model<Real>& model = bench.model();
  const Index waves = model.modes() * model.pixels();
  Box support;
  const Batches batches = disjoint_batches(bench, state, iteration, support);
  for (Index b = 0; b < batches.count(); ++b) {
    check_interrupt();
    const std::span<const Index> group = batches[b];
    const auto members = static_cast<Index>(group.size());
    const Index grain = (members + probe_pieces - 1) / probe_pieces;
    const std::span<const Index> next = b + 1 < batches.count() ? batches[b + 1] : std::span<const Index>{};
    const auto will_read = [&](std::span<const Index> frames) { model.measurement().will_read(frames); };
    parallel_for(members, grain, [&](Index first, Index last, Worker& worker) {
      std::vector<Complex>& step = probe_steps_[static_cast<std::size_t>(first / grain)];
      step.assign(static_cast<std::size_t>(waves), Complex{});
      Exposure<Real>& exposure = exposures_[worker];
      const std::span<const Index> piece =
          group.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
      for (Index i = first; i < last; ++i) {
        const Index frame = group[static_cast<std::size_t>(i)];
        check_interrupt();
        look_ahead(piece, i - first, will_read);
        announce_next(next, i, members, will_read);
        bench.fit()[static_cast<std::size_t>(frame)] =
            update(bench, iteration, frame, support, exposure, copies_[worker], next_);
        if (!iteration.probe_free) continue;
        exposure.unshift();
        cpu::add<Real>(Real(1), exposure.waves(), step.data(), waves);
      }
    });
    if (iteration.object_free) finish_group(state, group, support);
    if (!iteration.probe_free) continue;
    for (Index piece = 0; piece * grain < members; ++piece)
      cpu::add<Real>(Real(1) / static_cast<Real>(members), probe_steps_[static_cast<std::size_t>(piece)].data(),
                     state.probe.view<Complex, 3>().data, waves);
    bench.renew_spectrum();
  }
}

template <class Real>
void Pie<Real>::iterate_there(Workbench<Real>& bench, DevicePass<Real>& there, const Iteration& iteration) {
  State& state = bench.state();
  Box box{0, 0, bench.model().rows(), bench.model().cols()};
  // Groups that do not meet are of other sizes in every iteration.
  if (settings_.order == PieOrder::disjoint) there.reserve(static_cast<Index>(bench.active().size()));
  const Batches batches =
      settings_.order == PieOrder::sequential
          ? sequential_batches(bench.active(), {bench.seed(), static_cast<std::uint64_t>(iteration.number)})
          : disjoint_batches(bench, state, iteration, box);
  Momentum<Real> momentum;
  if (!velocity_.empty()) {
    Stream& stream = there.stream();
    momentum = {static_cast<device::Complex<Real>*>(velocity_.there(stream).data()),
                static_cast<device::Complex<Real>*>(before_.there(stream).data()),
                static_cast<Index*>(updates_.there(stream).data())};
  }
  there_.iterate(there, settings_, batches, box, momentum, iteration, bench.fit());
  there.give(state);
}

template <class Real>
void Pie<Real>::iterate(Workbench<Real>& bench, const Iteration& iteration) {
  if (DevicePass<Real>* there = bench.device_pass()) return iterate_there(bench, *there, iteration);
  if (settings_.order == PieOrder::sequential)
    sequential(bench, iteration);
  else
    disjoint(bench, iteration);
}

template class Pie<float>;
template class Pie<double>;

}  // namespace sonde::ptycho
