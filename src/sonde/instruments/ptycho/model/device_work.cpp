// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/model/device_work.h"

#include <algorithm>
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
      groups.push_back(
          {.first = first + from, .count = to - from, .opens = k == 0 ? 1 : 0, .batch = first, .members = size});
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
  of.partial = elements<double>(partial);
  of.by_slot = elements<double>(by_slot);
  return of;
}

template <class Real>
void DeviceWork<Real>::take(const State& state) {
  const bool first = estimate.object.empty();
  if (first || shifted != state.fractional()) {
    recorded.clear();  // other kernels from now on
    slots = 0;
    shifted = state.fractional();
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
  for (Array* each : {&line_first, &line_second}) *each = {};
  partial = Array(device, Shape{slots * device::strips_of(model->pixels()), device::fit_sums}, DType::f64);
  by_slot = Array(device, Shape{slots, 2}, DType::f64);
  group_fft.reset();
  group_fft = Fft2d<Real>::prepare({.rows = rows, .cols = cols, .batch = slots * modes, .device = device});
  patterns->reserve(slots);
}

template <class Real>
void DeviceWork<Real>::make_line_room() {
  if (!line_first.empty()) return;
  line_first = Array::zeros(stream().device(), waves.shape(), dtype_of<Complex>);
  line_second = Array::zeros(stream().device(), waves.shape(), dtype_of<Complex>);
  if (shifted) line_spectrum = Array(stream().device(), estimate.probe.shape(), estimate.probe.dtype());
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
void DeviceWork<Real>::forward(Stream& queue, int buffer, bool change) {
  const device::Layout of = layout();
  for (Index s = 0; s < slices(); ++s) {
    if (s > 0) {
      queue.copy(before(s), waves.data(), waves.allocated_bytes());
      through_free_space(queue, s - 1, before(s), /*back=*/false);
    }
    run_on(queue, of.wave_pieces(), device::Illuminate<Real>{of, object(s), incident(s), wave(waves)});
  }
  transform(queue, *group_fft, waves.data(), FftDirection::forward);
  device::Residual<Real> residual;
  residual.flight = flight(slices() - 1, buffer);
  residual.loss = model->loss();
  residual.smallest = std::numeric_limits<Real>::min() * Real(1e8);
  residual.change = change;
  run_on(queue, residual.pieces(), residual);
  run_on(queue, 1, device::SumFit{of, elements<const double>(partial), elements<double>(fit)});
}

template <class Real>
void DeviceWork<Real>::gather(Stream& queue, int buffer, Wanted wanted, const Visit& visit) {
  const device::Layout of = layout();
  transform(queue, *group_fft, waves.data(), FftDirection::inverse);
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
void DeviceWork<Real>::finish(Stream& queue, Wanted wanted, const Step& step) {
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
  if (!step) return;
  step(queue, sums, estimate);
  if (wanted.probe) renew_spectrum(queue);
}

template <class Real>
void DeviceWork<Real>::renew_spectrum(Stream& queue) {
  if (!shifted) return;
  queue.copy(estimate.spectrum.data(), estimate.probe.data(), estimate.probe.allocated_bytes());
  transform(queue, *probe_fft, estimate.spectrum.data(), FftDirection::forward);
}

template <class Real>
void DeviceWork<Real>::line(Stream& queue, int buffer, const Wave* object_direction, const Wave* probe_direction) {
  const device::Layout of = layout();
  Array* const orders[] = {&waves, &line_first, &line_second};
  // Before the first slice the wave is P + t hP.
  run_on(queue, of.wave_pieces(), device::Spread<Real>{of, incident(0), wave(waves)});
  if (shifted)
    shift_probe(queue, wave(line_spectrum), line_first);
  else
    run_on(queue, of.wave_pieces(), device::Spread<Real>{of, {probe_direction, 0}, wave(line_first)});
  queue.fill_zero(line_second.data(), line_second.allocated_bytes());
  for (Index s = 0; s < slices(); ++s) {
    if (s > 0)
      for (Array* each : orders) through_free_space(queue, s - 1, wave(*each), /*back=*/false);
    run_on(queue, of.wave_pieces(),
           device::StepThrough<Real>{of, object(s), object_direction + s * slice_elements(), wave(waves),
                                     wave(line_first), wave(line_second)});
  }
  for (Array* each : orders) transform(queue, *group_fft, each->data(), FftDirection::forward);
  const device::LineSums<Real> body{flight(slices() - 1, buffer), wave(waves), wave(line_first), wave(line_second)};
  run_on(queue, body.pieces(), body);
  run_on(queue, 1, device::SumFit{of, elements<const double>(partial), elements<double>(fit)});
}

template <class Real>
void DeviceWork<Real>::queue_recorded(const std::string& name, int kind, const std::function<void(Stream&)>& work) {
  recorded.try_emplace({name, kind}, work).first->second.run(stream());
}

template <class Real>
void DeviceWork<Real>::each_group(const Batches& batches, const std::string& name, bool with_patterns,
                                  const GroupWork& work, const std::function<void()>& after) {
  const std::vector<Group> list = cut(batches, slots);
  copy_and_wait(stream(), order.data(), batches.members.data(), batches.members.size() * sizeof(Index));
  copy_and_wait(stream(), groups.data(), list.data(), list.size() * sizeof(Group));
  stream().fill_zero(cursor.data(), cursor.allocated_bytes());
  const bool streams = with_patterns && patterns->tier() == PatternTier::host;
  for (std::size_t g = 0; g < list.size(); ++g) {
    check_interrupt();
    const int buffer = streams ? static_cast<int>(g % DevicePatterns::buffers) : 0;
    if (streams)
      patterns->bring(std::span(batches.members)
                          .subspan(static_cast<std::size_t>(list[g].first), static_cast<std::size_t>(list[g].count)),
                      buffer);
    queue_recorded(name, buffer, [work, buffer](Stream& queue) { work(queue, buffer); });
    if (streams) patterns->leave(buffer);
    if (after && (g + 1 == list.size() || list[g + 1].opens != 0)) after();
  }
}

template <class Real>
void DeviceWork<Real>::iterate(const Batches& batches, Wanted wanted, bool compares, const Visit& visit,
                               const Step& step, std::span<FrameSums> to) {
  if (batches.members.empty()) return;
  Index largest_batch = 0;
  for (Index b = 0; b < batches.count(); ++b)
    largest_batch = std::max(largest_batch, static_cast<Index>(batches[b].size()));
  make_room(largest_batch);
  // What is recorded depends on these alone.
  const std::string name = std::string(visit.name) + (wanted.object ? " object" : "") + (wanted.probe ? " probe" : "") +
                           (wanted.weights ? " weights" : "") + (compares ? " compared" : "");
  constexpr int at_the_end = DevicePatterns::buffers;  // a kind of its own, beside those of the buffers
  const auto group = [this, wanted, compares, visit](Stream& queue, int buffer) {
    next_group(queue);
    if (visit.forward) forward(queue, buffer, !compares && !visit.detector);
    if (compares) return;
    if (visit.detector) visit.detector(queue, flight(slices() - 1, buffer));
    gather(queue, buffer, wanted, visit);
  };
  const auto after = [&] {
    if (compares) return;
    if (step)
      queue_recorded(name, at_the_end, [this, wanted, step](Stream& queue) { finish(queue, wanted, step); });
    else
      finish(stream(), wanted, step);
  };
  each_group(batches, name, /*with_patterns=*/visit.forward, group, after);
  bring_fit(batches.members, to);
}

template <class Real>
void DeviceWork<Real>::bring_fit(std::span<const Index> frames, std::span<FrameSums> to) {
  if (to.empty()) return;
  std::vector<double> all(static_cast<std::size_t>(fit.count()));
  copy_and_wait(stream(), all.data(), fit.data(), fit.allocated_bytes());
  for (const Index frame : frames) {
    const double* own = all.data() + frame * device::fit_sums;
    to[static_cast<std::size_t>(frame)] = {own[0], own[1], own[2], own[3], own[4]};
  }
}

template struct DeviceWork<float>;
template struct DeviceWork<double>;

}  // namespace sonde::ptycho
