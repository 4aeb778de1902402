// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/engines/device_lsqml.h"

#include <vector>

#include "sonde/instruments/ptycho/engines/lsqml.h"
#include "sonde/instruments/ptycho/engines/lsqml_device.h"

namespace sonde::ptycho {

template <class Real>
DeviceLsqml<Real>::DeviceLsqml(DevicePass<Real>& pass, const Model<Real>& model, Index most) : pass_(&pass) {
  const Device device = pass.stream().device();
  const Index slices = model.slices();
  chi_ = Array(device, Shape{most, model.modes(), model.rows(), model.cols()}, dtype_of<std::complex<Real>>);
  light_ = Array(device, pass.estimate().object.shape(), dtype_of<Real>);
  largest_ = Array(device, Shape{slices + 1}, DType::u64);
  along_ = Array(device, Shape{most, slices, device::fit_sums}, DType::f64);
  wanted_ = Array(device, Shape{2, most}, DType::f64);
  steps_ = Array(device, Shape{slices + 1}, DType::f64);
}

/// The illumination of the whole scan by the probe as it is.
template <class Real>
void DeviceLsqml<Real>::illuminate(std::span<const Index> active) {
  DeviceVisit<Real> visit;
  visit.name = "only light";
  visit.way = WayThere::last_slice;
  visit.exit = [](Stream& queue, const device::Flight<Real>& flight) {
    queue.fill_zero(flight.waves, static_cast<std::size_t>(flight.of.wave(flight.of.slots, 0)) * sizeof(*flight.waves));
  };
  pass_->pass(active, {.object = true, .probe = false}, visit, {});
  pass_->stream().copy(light_.data(), pass_->sums().object_weight.data(), light_.allocated_bytes());
  pass_->stream().copy(largest_.data(), pass_->sums().largest.data(), largest_.allocated_bytes());
}

template <class Real>
DeviceRound<Real> DeviceLsqml<Real>::directions(const LsqmlSettings& settings, const Iteration& free) {
  DeviceRound<Real> round;
  round.wanted = {.object = free.object_free, .probe = free.probe_free};
  round.visit.name = settings.loss == Loss::poisson ? "likely chi kept" : "chi kept";
  if (settings.loss == Loss::poisson)
    round.visit.share = [](Stream& queue, const device::Flight<Real>& flight) {
      run_on(queue, flight.of.slots, device::PoissonShare<Real>{flight});
    };
  auto* chi = static_cast<Wave*>(chi_.data());
  round.visit.exit = [chi](Stream& queue, const device::Flight<Real>& flight) {
    run_on(queue, flight.of.wave_pieces(), device::KeepChi<Real>{flight.of, flight.waves, chi});
  };
  const auto* light = static_cast<const Real*>(light_.data());
  const auto* largest = static_cast<const std::uint64_t*>(largest_.data());
  round.step = [light, largest, wanted = round.wanted, damping = settings.damping](Stream& queue, DeviceSums& sums,
                                                                                   DeviceEstimate& estimate) {
    const Index slices = estimate.object.shape()[0], elements = estimate.object.count() / slices;
    device::Direct<Real> body;
    body.damping = damping;
    for (Index s = 0; s < slices && wanted.object; ++s) {
      body.weight = light + s * elements;
      body.largest = largest + s;
      body.elements = elements;
      if (estimate.type == ObjectType::potential)
        body.object = static_cast<const Wave*>(estimate.object.data()) + s * elements;
      body.sum = static_cast<Wave*>(sums.object.data()) + s * elements;
      run_on(queue, body.pieces(), body);
    }
    if (!wanted.probe) return;
    body.weight = static_cast<const Real*>(sums.probe_weight.data());
    body.largest = static_cast<const std::uint64_t*>(sums.largest.data()) + slices;
    body.planes = estimate.probe.shape()[0];
    body.elements = sums.probe_weight.count();
    body.object = nullptr;
    body.sum = static_cast<Wave*>(sums.probe.data());
    run_on(queue, body.pieces(), body);
  };
  return round;
}

template <class Real>
DeviceRound<Real> DeviceLsqml<Real>::lengths(const LsqmlSettings& settings, const Iteration& free) {
  const bool object_free = free.object_free, probe_free = free.probe_free;
  DeviceRound<Real> round;
  round.wanted = {.object = false, .probe = false, .weights = false};
  round.visit.name = object_free && probe_free ? "along both" : object_free ? "along the object" : "along the probe";
  round.visit.way = WayThere::last_slice;
  round.visit.brings = probe_free;
  const auto* chi = static_cast<const Wave*>(chi_.data());
  round.visit.exit = [chi](Stream& queue, const device::Flight<Real>& flight) {
    run_on(queue, flight.of.wave_pieces(), device::TakeChi<Real>{flight.of, chi, flight.waves});
  };
  // chi goes back through the slices, last to first. What the wave before a slice should change by is left to the
  // slices before it, and to the probe.
  const auto* toward = static_cast<const Wave*>(pass_->sums().object.data());
  auto* along = static_cast<double*>(along_.data());
  round.visit.slice = [toward, along, probe_free](Stream& queue, const device::Flight<Real>& flight) {
    const Index elements = flight.of.object_rows * flight.of.object_cols;
    const device::SumAlong<Real> body{flight, toward + flight.slice * elements, probe_free && flight.slice == 0};
    run_on(queue, body.pieces(), body);
    run_on(queue, 1, device::AlongOfMembers{flight.of, flight.slice, flight.partial, along});
    if (flight.slice > 0)
      run_on(queue, flight.of.wave_pieces(), device::BackThrough<Real>{flight.of, flight.object, flight.waves});
  };
  device::ChooseSteps choose;
  choose.now = pass_->sums().now;
  choose.slices = along_.shape()[1];
  // Every slice, and every mode, would fill all of chi by itself.
  choose.share = settings.relax / static_cast<double>(choose.slices * chi_.shape()[1]);
  choose.probe_share = settings.relax;
  choose.object_free = object_free;
  choose.probe_free = probe_free;
  choose.along = along;
  choose.wanted = static_cast<double*>(wanted_.data());
  choose.sorted = choose.wanted + wanted_.shape()[1];
  choose.steps = static_cast<double*>(steps_.data());
  round.step = [choose](Stream& queue, const DeviceSums& sums, DeviceEstimate& estimate) {
    run_on(queue, 1, choose);
    device::FollowDirection<Real> body;
    if (choose.object_free) {
      const Index elements = estimate.object.count() / choose.slices;
      body.count = elements;
      for (Index s = 0; s < choose.slices; ++s) {
        body.direction = static_cast<const Wave*>(sums.object.data()) + s * elements;
        body.step = choose.steps + s;
        body.target = static_cast<Wave*>(estimate.object.data()) + s * elements;
        if (estimate.type == ObjectType::potential)
          body.phase = static_cast<Real*>(estimate.phase.data()) + s * elements;
        run_on(queue, device::strips_of(body.count), body);
      }
    }
    if (!choose.probe_free) return;
    body.direction = static_cast<const Wave*>(sums.probe.data());
    body.step = choose.steps + choose.slices;
    body.count = estimate.probe.count();
    body.target = static_cast<Wave*>(estimate.probe.data());
    body.phase = nullptr;
    run_on(queue, device::strips_of(body.count), body);
  };
  return round;
}

template <class Real>
void DeviceLsqml<Real>::iterate(const LsqmlSettings& settings, std::span<const Index> active, const Batches& batches,
                                const Iteration& iteration, std::span<FrameSums> fit) {
  illuminate(active);
  std::vector<DeviceRound<Real>> rounds;
  rounds.push_back(directions(settings, iteration));
  if (iteration.object_free || iteration.probe_free) rounds.push_back(lengths(settings, iteration));
  pass_->iterate(batches, rounds, fit);
}

template class DeviceLsqml<float>;
template class DeviceLsqml<double>;

}  // namespace sonde::ptycho
