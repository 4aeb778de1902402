// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/model/device_work.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sonde/engine/base/interrupt.h"

namespace sonde::ptycho {
namespace {

using device::Group;

/// Batches cut into groups of nearly equal size, none above `slots`.
std::vector<Group> cut(const Batches& batches, Index slots) {
  std::vector<Group> groups;
  for (Index b = 0; b < batches.count(); ++b) {
    const Index first = batches.bounds[static_cast<std::size_t>(b)], size = static_cast<Index>(batches[b].size());
    const Index pieces = (size + slots - 1) / slots;
    for (Index k = 0; k < pieces; ++k) {
      const Index from = size * k / pieces, to = size * (k + 1) / pieces;
      groups.push_back({.first = first + from,
                        .count = to - from,
                        .opens = k == 0 ? 1 : 0,
                        .batch = first,
                        .members = size,
                        .groups = pieces});
    }
  }
  return groups;
}

constexpr Index group_words = sizeof(Group) / sizeof(Index);

void refresh(Stream& stream, const Array& from, Array& to) {
  if (to.shape() != from.shape() || to.dtype() != from.dtype()) to = Array(stream.device(), from.shape(), from.dtype());
  copy_and_wait(stream, to.data(), from.data(), from.allocated_bytes());
}

}  // namespace

template <class Real>
DeviceWork<Real>::DeviceWork(const Model<Real>& of, DevicePatterns& from, GroupLimits by)
    : model(&of), patterns(&from), limits(by) {
  const Device device = stream().device();
  const Index frames = of.measurement().count(), rows = of.rows(), cols = of.cols();
  placements = Array(device, Shape{frames * static_cast<Index>(sizeof(Placement))}, DType::u8);
  order = Array(device, Shape{frames}, DType::i64);
  groups = Array(device, Shape{frames * group_words}, DType::i64);  // each has a frame at least
  cursor = Array(device, Shape{1}, DType::i64);
  now = Array(device, Shape{group_words}, DType::i64);
  fit = Array::zeros(device, Shape{frames, device::fit_sums}, DType::f64);
  if (const Real* measured = of.measurement().template weights<Real>()) {
    weights = Array(device, Shape{rows, cols}, dtype_of<Real>);
    copy_and_wait(stream(), weights.data(), measured, weights.allocated_bytes());
  }
  if (of.slices() > 1) {
    propagators = Array(device, Shape{of.slices() - 1, rows, cols}, dtype_of<Complex>);
    copy_and_wait(stream(), propagators.data(), of.propagator(0), propagators.allocated_bytes());
  }
  probe_fft = Fft2d<Real>::prepare({.rows = rows, .cols = cols, .batch = of.modes(), .device = device});
}

template <class Real>
device::Layout DeviceWork<Real>::layout() {
  device::Layout of;
  of.rows = model->rows();
  of.cols = model->cols();
  of.modes = model->modes();
  of.slices = slices();
  of.object_rows = estimate.object.shape()[1];
  of.object_cols = estimate.object.shape()[2];
  of.slots = slots;
  of.now = elements<const Group>(now);
  of.order = elements<const Index>(order);
  of.placements = elements<const Placement>(placements);
  return of;
}

template <class Real>
device::Incident<Real> DeviceWork<Real>::incident(Index slice) {
  const Index stride = model->modes() * model->pixels();
  if (slice > 0) return {before(slice), stride};
  if (shifted) return {wave(probes), stride};
  return {wave(estimate.probe), 0};
}

template <class Real>
device::Flight<Real> DeviceWork<Real>::flight(Index slice, int buffer) {
  device::Flight<Real> of;
  of.of = layout();
  of.patterns = patterns->view(buffer);
  of.weights = weights.empty() ? nullptr : elements<const Real>(weights);
  of.eps = model->eps();
  of.scale = unscale();
  of.waves = wave(waves);
  of.slice = slice;
  of.object = object(slice);
  of.incident = incident(slice);
  if (!shifted)
    of.brought = {wave(sums.probe), 0};
  else if (!others.empty())
    of.brought = {wave(others[0]), model->modes() * model->pixels()};
  of.partial = elements<double>(partial);
  of.by_slot = elements<double>(by_slot);
  return of;
}

template <class Real>
void DeviceWork<Real>::take(const State& state, bool between_pixels) {
  const bool first = estimate.object.empty(), shifts = between_pixels || state.fractional();
  if (first || shifted != shifts) {
    recorded.clear();  // other kernels from now on
    slots = 0;
    shifted = shifts;
  }
  estimate.type = state.type;
  refresh(stream(), state.object, estimate.object);
  refresh(stream(), state.probe, estimate.probe);
  if (!state.phase.empty()) refresh(stream(), state.phase, estimate.phase);
  copy_and_wait(stream(), placements.data(), state.placements.data(), placements.allocated_bytes());
  if (first) {
    const Device device = stream().device();
    sums.object = Array(device, state.object.shape(), dtype_of<Complex>);
    sums.object_weight = Array(device, state.object.shape(), dtype_of<Real>);
    sums.probe = Array(device, state.probe.shape(), dtype_of<Complex>);
    sums.probe_weight = Array(device, state.probe.shape().last(2), dtype_of<Real>);
    sums.largest = Array::zeros(device, Shape{slices() + 1}, DType::u64);
    sums.now = elements<const Group>(now);
  }
  if (shifted && estimate.spectrum.empty())
    estimate.spectrum = Array(stream().device(), state.probe.shape(), state.probe.dtype());
  renew_spectrum(stream());
}

template <class Real>
void DeviceWork<Real>::give(State& state) {
  stream().copy(state.object.data(), estimate.object.data(), state.object.allocated_bytes());
  stream().copy(state.probe.data(), estimate.probe.data(), state.probe.allocated_bytes());
  if (!state.phase.empty()) stream().copy(state.phase.data(), estimate.phase.data(), state.phase.allocated_bytes());
  stream().synchronise();
}

template <class Real>
void DeviceWork<Real>::make_room(Index batch) {
  const Index modes = model->modes(), rows = model->rows(), cols = model->cols();
  const Index needed = group_size(batch, static_cast<std::size_t>(model->pixels()) * sizeof(Complex),
                                  modes * (slices() + (shifted ? 1 : 0)), limits);
  if (needed <= slots) return;
  const Device device = stream().device();
  stream().synchronise();
  recorded.clear();
  slots = needed;
  waves = Array::zeros(device, Shape{slots * modes, rows, cols}, dtype_of<Complex>);
  if (shifted) {
    probes = Array::zeros(device, waves.shape(), dtype_of<Complex>);
    ramps = Array(device, Shape{slots, rows + cols}, dtype_of<Complex>);
  }
  between.clear();
  for (Index s = 1; s < slices(); ++s) between.push_back(Array::zeros(device, waves.shape(), dtype_of<Complex>));
  others.clear();
  partial = Array(device, Shape{slots * device::strips_of(model->pixels()), device::fit_sums}, DType::f64);
  by_slot = Array(device, Shape{slots, 2}, DType::f64);
  group_fft.reset();
  group_fft = Fft2d<Real>::prepare({.rows = rows, .cols = cols, .batch = slots * modes, .device = device});
  patterns->reserve(slots);
}

template <class Real>
void DeviceWork<Real>::make_some_room(Index batch) {
  if (slots == 0) make_room(batch);
}

template <class Real>
void DeviceWork<Real>::make_other_room(std::size_t sets) {
  while (others.size() < sets) others.push_back(Array::zeros(stream().device(), waves.shape(), dtype_of<Complex>));
  if (shifted && direction_spectrum.empty())
    direction_spectrum = Array(stream().device(), estimate.probe.shape(), estimate.probe.dtype());
}

template <class Real>
void DeviceWork<Real>::transform(Stream& queue, const Fft2d<Real>& fft, void* waves_of_all,
                                 FftDirection direction) const {
  const View<Complex, 3> view(static_cast<Complex*>(waves_of_all), fft.key().batch, fft.key().rows, fft.key().cols);
  fft.transform(queue, view, view, direction);
}

template <class Real>
void DeviceWork<Real>::through_free_space(Stream& queue, Index gap, Wave* waves_of_all, bool back) {
  const device::Layout of = layout();
  transform(queue, *group_fft, waves_of_all, FftDirection::forward);
  run_on(queue, of.wave_pieces(),
         device::FreeSpace<Real>{of, wave(propagators) + gap * of.pixels(), unscale(), back, waves_of_all});
  transform(queue, *group_fft, waves_of_all, FftDirection::inverse);
}

template <class Real>
void DeviceWork<Real>::shift_probe(Stream& queue, const Wave* spectrum, Array& to) {
  const device::Layout of = layout();
  run_on(queue, of.wave_pieces(), device::ShiftProbe<Real>{of, spectrum, wave(ramps), unscale(), wave(to)});
  transform(queue, *group_fft, to.data(), FftDirection::inverse);
}

template <class Real>
void DeviceWork<Real>::next_group(Stream& queue) {
  run_on(queue, 1, device::NextGroup{elements<const Group>(groups), elements<Index>(cursor), elements<Group>(now)});
  if (!shifted) return;
  run_on(queue, slots, device::FillRamps<Real>{layout(), wave(ramps)});
  shift_probe(queue, wave(estimate.spectrum), probes);
}

template <class Real>
void DeviceWork<Real>::approach(Stream& queue) {
  const device::Layout of = layout();
  for (Index s = 1; s < slices(); ++s) {
    run_on(queue, of.wave_pieces(), device::Illuminate<Real>{of, object(s - 1), incident(s - 1), before(s)});
    through_free_space(queue, s - 1, before(s), /*back=*/false);
  }
}

template <class Real>
void DeviceWork<Real>::forward(Stream& queue) {
  const device::Layout of = layout();
  const Index last = slices() - 1;
  approach(queue);
  run_on(queue, of.wave_pieces(), device::Illuminate<Real>{of, object(last), incident(last), wave(waves)});
  transform(queue, *group_fft, waves.data(), FftDirection::forward);
}

template <class Real>
void DeviceWork<Real>::residual(Stream& queue, int buffer, bool change, bool shared) {
  device::Residual<Real> body;
  body.flight = flight(slices() - 1, buffer);
  body.loss = model->loss();
  body.smallest = std::numeric_limits<Real>::min() * Real(1e8);
  body.change = change;
  body.shared = shared;
  run_on(queue, body.pieces(), body);
  run_on(queue, 1, device::SumFit{layout(), elements<const double>(partial), elements<double>(fit)});
}

template <class Real>
void DeviceWork<Real>::propagate(Stream& queue, Wave* waves_of_all) {
  const device::Layout of = layout();
  const device::Incident<Real> own{waves_of_all, of.modes * of.pixels()};
  for (Index s = 0; s < slices(); ++s) {
    if (s > 0) through_free_space(queue, s - 1, waves_of_all, /*back=*/false);
    run_on(queue, of.wave_pieces(), device::Illuminate<Real>{of, object(s), own, waves_of_all});
  }
  transform(queue, *group_fft, waves_of_all, FftDirection::forward);
}

template <class Real>
void DeviceWork<Real>::gather(Stream& queue, int buffer, Wanted wanted, const Visit& visit) {
  const device::Layout of = layout();
  if (visit.way != WayThere::last_slice) transform(queue, *group_fft, waves.data(), FftDirection::inverse);
  if (visit.exit) visit.exit(queue, flight(slices() - 1, buffer));
  for (Index s = slices() - 1; s >= 0; --s) {
    if (visit.slice) {
      visit.slice(queue, flight(s, buffer));
    } else {
      if (wanted.object) {
        device::GatherObject<Real> body;
        body.of = of;
        body.incident = incident(s);
        body.chi = wave(waves);
        body.numerator = wave(sums.object) + s * slice_elements();
        body.weight = wanted.weights ? elements<Real>(sums.object_weight) + s * slice_elements() : nullptr;
        run_on(queue, body.pieces(), body, body.scratch_bytes());
      }
      if (s == 0 && !wanted.probe) break;
      run_on(queue, of.wave_pieces(), device::BackThrough<Real>{of, object(s), wave(waves)});
    }
    if (s > 0) through_free_space(queue, s - 1, wave(waves), /*back=*/true);
  }
  if (!wanted.probe) return;
  if (wanted.weights)
    run_on(queue, of.strips(), device::GatherProbeWeight<Real>{of, object(0), elements<Real>(sums.probe_weight)});
  // Shifted back by summing spectra: one inverse transform for the whole batch, in finish().
  if (shifted) transform(queue, *group_fft, waves.data(), FftDirection::forward);
  const device::GatherProbe<Real> body{of, wave(waves), shifted ? wave(ramps) : nullptr, wave(sums.probe)};
  run_on(queue, body.pieces(), body);
}

template <class Real>
void DeviceWork<Real>::finish(Stream& queue, const Round& round) {
  const Wanted wanted = round.wanted;
  if (wanted.probe && shifted) {
    transform(queue, *probe_fft, sums.probe.data(), FftDirection::inverse);
    run_on(queue, device::strips_of(sums.probe.count()),
           device::Scale<Real>{wave(sums.probe), sums.probe.count(), unscale()});
  }
  if (wanted.weights) {
    queue.fill_zero(sums.largest.data(), sums.largest.allocated_bytes());
    const auto largest = [&](const Real* weight, Index count, Index which) {
      run_on(queue, device::strips_of(count),
             device::LargestWeight<Real>{weight, count, elements<std::uint64_t>(sums.largest) + which});
    };
    for (Index s = 0; s < slices() && wanted.object; ++s)
      largest(elements<Real>(sums.object_weight) + s * slice_elements(), slice_elements(), s);
    if (wanted.probe) largest(elements<Real>(sums.probe_weight), model->pixels(), slices());
  }
  if (round.step) round.step(queue, sums, estimate);
}

template <class Real>
void DeviceWork<Real>::renew_spectrum(Stream& queue) {
  if (!shifted) return;
  queue.copy(estimate.spectrum.data(), estimate.probe.data(), estimate.probe.allocated_bytes());
  transform(queue, *probe_fft, estimate.spectrum.data(), FftDirection::forward);
}

template <class Real>
void DeviceWork<Real>::renew_direction(Stream& queue, const Array& direction) {
  if (!shifted) return;
  queue.copy(direction_spectrum.data(), direction.data(), direction.allocated_bytes());
  transform(queue, *probe_fft, direction_spectrum.data(), FftDirection::forward);
}

template <class Real>
void DeviceWork<Real>::bring(Stream& queue) {
  if (shifted) shift_probe(queue, wave(direction_spectrum), others[0]);
}

template <class Real>
void DeviceWork<Real>::line(Stream& queue, int buffer, const Wave* object_direction, const Wave* probe_direction) {
  const device::Layout of = layout();
  Array* const orders[] = {&waves, &others[0], &others[1]};
  // Before the first slice the wave is P + t hP.
  run_on(queue, of.wave_pieces(), device::Spread<Real>{of, incident(0), wave(waves)});
  if (shifted)
    bring(queue);
  else
    run_on(queue, of.wave_pieces(), device::Spread<Real>{of, {probe_direction, 0}, wave(others[0])});
  queue.fill_zero(others[1].data(), others[1].allocated_bytes());
  for (Index s = 0; s < slices(); ++s) {
    if (s > 0)
      for (Array* each : orders) through_free_space(queue, s - 1, wave(*each), /*back=*/false);
    run_on(queue, of.wave_pieces(),
           device::StepThrough<Real>{of, object(s), object_direction + s * slice_elements(), wave(waves),
                                     wave(others[0]), wave(others[1])});
  }
  for (Array* each : orders) transform(queue, *group_fft, each->data(), FftDirection::forward);
  const device::LineSums<Real> body{flight(slices() - 1, buffer), wave(waves), wave(others[0]), wave(others[1])};
  run_on(queue, body.pieces(), body);
  run_on(queue, 1, device::SumFit{of, elements<const double>(partial), elements<double>(fit)});
}

template <class Real>
void DeviceWork<Real>::position(Stream& queue, int buffer) {
  const device::Layout of = layout();
  forward(queue);
  for (std::size_t across = 0; across < 2; ++across) {
    Array& derivative = others[across];
    run_on(queue, of.wave_pieces(),
           device::DifferentiateProbe<Real>{of, wave(estimate.spectrum), wave(ramps), unscale(),
                                            /*by_row=*/across == 0, wave(derivative)});
    transform(queue, *group_fft, derivative.data(), FftDirection::inverse);
    propagate(queue, wave(derivative));
  }
  const device::ShiftSums<Real> body{flight(slices() - 1, buffer), wave(others[0]), wave(others[1]),
                                     1 / std::sqrt(static_cast<double>(model->pixels()))};
  run_on(queue, body.pieces(), body);
  run_on(queue, 1, device::SumFit{of, elements<const double>(partial), elements<double>(fit)});
}

template <class Real>
void DeviceWork<Real>::queue_recorded(const std::string& name, int kind, const std::function<void(Stream&)>& work) {
  recorded.try_emplace({name, kind}, work).first->second.run(stream());
}

template <class Real>
void DeviceWork<Real>::each_group(const Batches& batches, std::span<const GroupWork> rounds) {
  const std::vector<Group> list = cut(batches, slots);
  copy_and_wait(stream(), order.data(), batches.members.data(), batches.members.size() * sizeof(Index));
  copy_and_wait(stream(), groups.data(), list.data(), list.size() * sizeof(Group));
  stream().fill_zero(cursor.data(), cursor.allocated_bytes());
  int lane = 0;  // of patterns that wait on the host
  const auto queue_group = [&](const GroupWork& round, const Group& group) {
    check_interrupt();
    const bool streams = round.with_patterns && patterns->tier() == PatternTier::host;
    const int buffer = streams ? lane : 0;
    if (streams)
      patterns->bring(std::span(batches.members)
                          .subspan(static_cast<std::size_t>(group.first), static_cast<std::size_t>(group.count)),
                      buffer);
    queue_recorded(round.name, buffer, [work = round.work, buffer](Stream& queue) { work(queue, buffer); });
    if (!streams) return;
    patterns->leave(buffer);
    lane = (lane + 1) % DevicePatterns::buffers;
  };
  try {
    for (std::size_t first = 0; first < list.size(); first += static_cast<std::size_t>(list[first].groups))
      for (std::size_t r = 0; r < rounds.size(); ++r) {
        if (r > 0) run_on(stream(), 1, device::BatchAgain{elements<const Group>(now), elements<Index>(cursor)});
        for (Index k = 0; k < list[first].groups; ++k)
          queue_group(rounds[r], list[first + static_cast<std::size_t>(k)]);
        if (rounds[r].after) rounds[r].after();
      }
  } catch (...) {
    // Nobody waits any more for what is queued already, and what it works on may go.
    try {
      stream().synchronise();
    } catch (...) {  // the first failure says what happened
    }
    throw;
  }
}

template <class Real>
void DeviceWork<Real>::iterate(const Batches& batches, std::span<const Round> rounds, std::span<FrameSums> to) {
  if (batches.members.empty()) return;
  Index largest_batch = 0;
  for (Index b = 0; b < batches.count(); ++b)
    largest_batch = std::max(largest_batch, static_cast<Index>(batches[b].size()));
  make_room(largest_batch);
  constexpr int at_the_end = DevicePatterns::buffers;  // a kind of its own, beside those of the buffers
  std::vector<GroupWork> all;
  bool probe = false;
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    const Round& round = rounds[r];
    const Wanted wanted = round.wanted;
    const Visit& visit = round.visit;
    if (visit.brings) make_other_room(1);
    probe = probe || wanted.probe;
    const bool last = r + 1 == rounds.size(), brought_next = !last && rounds[r + 1].visit.brings;
    // What is recorded depends only on these.
    const std::string name = std::string(visit.name) + (wanted.object ? " object" : "") +
                             (wanted.probe ? " probe" : "") + (wanted.weights ? " weights" : "");
    const auto group = [this, wanted, visit](Stream& queue, int buffer) {
      next_group(queue);
      if (visit.brings) bring(queue);
      if (visit.way == WayThere::last_slice) approach(queue);
      if (visit.way == WayThere::detector) {
        forward(queue);
        if (visit.share) visit.share(queue, flight(slices() - 1, buffer));
        residual(queue, buffer, /*change=*/!visit.detector, /*shared=*/static_cast<bool>(visit.share));
      }
      if (visit.detector) visit.detector(queue, flight(slices() - 1, buffer));
      gather(queue, buffer, wanted, visit);
    };
    const auto end = [this, round, brought_next,
                      renews = last && probe && static_cast<bool>(round.step)](Stream& queue) {
      finish(queue, round);
      if (brought_next) renew_direction(queue, sums.probe);
      if (renews) renew_spectrum(queue);
    };
    const auto after = [this, name, end, steps = static_cast<bool>(round.step)] {
      if (steps)
        queue_recorded(name, at_the_end, end);
      else
        end(stream());
    };
    all.push_back({name, visit.way == WayThere::detector, group, after});
  }
  each_group(batches, all);
  bring_fit(batches.members, to);
}

template <class Real>
void DeviceWork<Real>::compare(const Batches& batches, std::span<FrameSums> to) {
  if (batches.members.empty()) return;
  make_some_room(static_cast<Index>(batches.members.size()));
  each_group(batches, {{.name = "compared",
                        .with_patterns = true,
                        .work =
                            [this](Stream& queue, int buffer) {
                              next_group(queue);
                              forward(queue);
                              residual(queue, buffer, /*change=*/false, /*shared=*/false);
                            },
                        .after = {}}});
  bring_fit(batches.members, to);
}

template <class Real>
std::vector<double> DeviceWork<Real>::bring_sums() {
  std::vector<double> all(static_cast<std::size_t>(fit.count()));
  copy_and_wait(stream(), all.data(), fit.data(), fit.allocated_bytes());
  return all;
}

template <class Real>
void DeviceWork<Real>::bring_fit(std::span<const Index> frames, std::span<FrameSums> to) {
  if (to.empty()) return;
  const std::vector<double> all = bring_sums();
  for (const Index frame : frames) {
    const double* own = all.data() + frame * device::fit_sums;
    to[static_cast<std::size_t>(frame)] = {own[0], own[1], own[2], own[3], own[4]};
  }
}

template struct DeviceWork<float>;
template struct DeviceWork<double>;

}  // namespace sonde::ptycho
