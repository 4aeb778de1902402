// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/engines/device_pie.h"

#include "sonde/instruments/ptycho/engines/pie.h"
#include "sonde/instruments/ptycho/engines/pie_device.h"

namespace sonde::ptycho {

template <class Real>
void DevicePie<Real>::iterate(DevicePass<Real>& pass, const PieSettings& settings, const Batches& batches,
                              const Box& box, const Momentum<Real>& momentum, const Iteration& iteration,
                              std::span<FrameSums> fit) {
  using Wave = device::Complex<Real>;
  static_assert(sizeof(Box) == 4 * sizeof(Index));
  Stream& stream = pass.stream();
  DeviceEstimate& estimate = pass.estimate();
  if (next_.empty()) {
    next_ = Array(stream.device(), estimate.object.shape(), estimate.object.dtype());
    box_ = Array(stream.device(), Shape{4}, DType::i64);
  }
  stream.copy(next_.data(), estimate.object.data(), next_.allocated_bytes());
  stream.copy(box_.data(), &box, sizeof box);
  stream.synchronise();

  const Index elements = estimate.object.count() / estimate.object.shape()[0];
  const auto* box_there = static_cast<const Box*>(box_.data());
  auto* next = static_cast<Wave*>(next_.data());
  Real* phase = estimate.type == ObjectType::potential ? static_cast<Real*>(estimate.phase.data()) : nullptr;
  const device::Divided<Real> of_object{static_cast<Real>(settings.step_object),
                                        static_cast<Real>(settings.alpha_object)};
  const Real probe_step = static_cast<Real>(settings.step_probe), probe_alpha = static_cast<Real>(settings.alpha_probe);
  const Index every = settings.momentum_every;
  const Real friction = static_cast<Real>(settings.friction), strength = static_cast<Real>(settings.kick);
  const Wanted wanted{.object = iteration.object_free, .probe = iteration.probe_free, .weights = false};

  const auto exchange_before = [&] {
    if (momentum.before == nullptr) return;
    const Index count = estimate.object.count();
    run_on(stream, device::strips_of(count),
           device::ExchangeBefore<Real>{count, static_cast<const Wave*>(estimate.object.data()), momentum.before});
  };
  exchange_before();
  DeviceVisit<Real> visit;
  visit.name = "updated";
  visit.slice = [=](Stream& queue, const device::Flight<Real>& flight) {
    const device::LargestLight<Real> largest{flight};
    run_on(queue, largest.pieces(), largest);
    run_on(queue, 1, device::LargestOfSlots{flight.of, flight.partial, flight.by_slot});
    device::UpdateUnder<Real> update;
    update.flight = flight;
    update.of_object = of_object;
    // Between slices the wave itself is updated, with a full step; before the first one it is the probe.
    update.of_probe = {flight.slice == 0 ? probe_step : Real(1), probe_alpha};
    update.with_object = wanted.object;
    update.box = box_there;
    update.next = next + flight.slice * elements;
    update.phase = phase == nullptr ? nullptr : phase + flight.slice * elements;
    run_on(queue, update.pieces(), update);
  };
  pass.iterate(
      batches, wanted, visit,
      [=, &pass](Stream& queue, const DeviceSums& sums, DeviceEstimate& target) {
        if (wanted.object) {
          const device::CommitBoxes<Real> commit{pass.layout(), box_there, next,
                                                 static_cast<Wave*>(target.object.data())};
          run_on(queue, commit.pieces(), commit);
        }
        if (wanted.object && momentum.velocity != nullptr) {
          run_on(queue, 1, device::CountUpdate{every, momentum.updates});
          device::Kick<Real> kick;
          kick.updates = momentum.updates;
          kick.friction = friction;
          kick.strength = strength;
          kick.count = target.object.count();
          kick.velocity = momentum.velocity;
          kick.before = momentum.before;
          kick.object = static_cast<Wave*>(target.object.data());
          kick.next = next;
          run_on(queue, device::strips_of(kick.count), kick);
        }
        if (wanted.probe)
          run_on(queue, device::strips_of(target.probe.count()),
                 device::MeanStep<Real>{static_cast<const Wave*>(sums.probe.data()), sums.now, target.probe.count(),
                                        static_cast<Wave*>(target.probe.data())});
      },
      fit);
  exchange_before();
}

template class DevicePie<float>;
template class DevicePie<double>;

}  // namespace sonde::ptycho
