// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/model/device_pass.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <type_traits>
#include <vector>

#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/device/graph.h"
#include "sonde/engine/math/fft.h"
#include "sonde/instruments/ptycho/model/sums_device.h"

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
      groups.push_back({.first = first + from, .count = to - from, .opens = k == 0 ? 1 : 0});
    }
  }
  return groups;
}

/// All frames as one batch.
Batches one_batch(std::span<const Index> frames) {
  return {.members = {frames.begin(), frames.end()}, .bounds = {0, static_cast<Index>(frames.size())}};
}

/// Bytes to and from a device in order with a stream; ordinary memory may change or go when this returns.
void copy_and_wait(Stream& stream, void* to, const void* from, std::size_t bytes) {
  stream.copy(to, from, bytes);
  stream.synchronise();
}

void refresh(Stream& stream, const Array& from, Array& to) {
  if (to.shape() != from.shape() || to.dtype() != from.dtype()) to = Array(stream.device(), from.shape(), from.dtype());
  copy_and_wait(stream, to.data(), from.data(), from.allocated_bytes());
}

}  // namespace

Index group_size(Index batch, std::size_t wave_bytes, Index waves_per_pattern, GroupLimits limits) {
  const std::size_t pattern_bytes = std::max<std::size_t>(wave_bytes * static_cast<std::size_t>(waves_per_pattern), 1);
  const Index most = std::clamp<Index>(static_cast<Index>(limits.waves_bytes / pattern_bytes), 1, limits.most);
  const Index groups = std::max<Index>((batch + most - 1) / most, 1);
  return (std::max<Index>(batch, 1) + groups - 1) / groups;
}

template <class Real>
struct DevicePass<Real>::Work {
  using Wave = device::Complex<Real>;
  using Complex = std::complex<Real>;

  const Model<Real>* model;
  DevicePatterns* patterns;
  GroupLimits limits;
  DeviceEstimate estimate;
  DeviceSums sums;
  bool shifted = false;
  Array propagators, weights;
  Array placements, order, groups, cursor, now, fit;
  // Of the patterns in flight.
  Index slots = 0;
  Array waves, probes, ramps, partial;
  std::vector<Array> between;  // what hits slice s + 1; each begins where a transform may
  std::optional<Fft2d<Real>> group_fft, probe_fft;
  std::map<int, Graph> recorded;

  Work(const Model<Real>& of, DevicePatterns& from, GroupLimits by) : model(&of), patterns(&from), limits(by) {
    const Device device = stream().device();
    const Index frames = of.measurement().count(), rows = of.rows(), cols = of.cols();
    placements = Array(device, Shape{frames * static_cast<Index>(sizeof(Placement))}, DType::u8);
    order = Array(device, Shape{frames}, DType::i64);
    groups = Array(device, Shape{frames * 3}, DType::i64);  // each batch has a frame at least
    cursor = Array(device, Shape{1}, DType::i64);
    now = Array(device, Shape{3}, DType::i64);
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

  [[nodiscard]] Stream& stream() const { return patterns->stream(); }
  [[nodiscard]] Index slices() const { return model->slices(); }
  [[nodiscard]] Index slice_elements() const { return estimate.object.count() / slices(); }

  template <class T>
  static T* elements(Array& array) {
    return static_cast<T*>(array.data());
  }
  static Wave* wave(Array& array) { return static_cast<Wave*>(array.data()); }
  Wave* object(Index slice) { return wave(estimate.object) + slice * slice_elements(); }
  Wave* before(Index slice) { return wave(between[static_cast<std::size_t>(slice - 1)]); }
  [[nodiscard]] Real unscale() const { return Real(1) / static_cast<Real>(model->pixels()); }

  device::Layout layout() {
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

  device::Incident<Real> incident(Index slice) {
    const Index stride = model->modes() * model->pixels();
    if (slice > 0) return {before(slice), stride};
    if (shifted) return {wave(probes), stride};
    return {wave(estimate.probe), 0};
  }

  void take(const State& state);
  void give(State& state);
  void make_room(Index batch);
  void transform(Stream& queue, const Fft2d<Real>& fft, void* waves_of_all, FftDirection direction) const;
  void through_free_space(Stream& queue, Index gap, Wave* waves_of_all, bool back);
  void forward(Stream& queue, int buffer, bool change);
  void gather(Stream& queue, Wanted wanted);
  void finish(Stream& queue, Wanted wanted, const Step& step);
  void renew_spectrum(Stream& queue);
  void iterate(const Batches& batches, Wanted wanted, bool compares, const Step& step, std::span<FrameSums> to);
  void queue_recorded(int key, const std::function<void(Stream&)>& work);
};

template <class Real>
void DevicePass<Real>::Work::take(const State& state) {
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
  }
  if (shifted && estimate.spectrum.empty())
    estimate.spectrum = Array(stream().device(), state.probe.shape(), state.probe.dtype());
  renew_spectrum(stream());
}

template <class Real>
void DevicePass<Real>::Work::give(State& state) {
  stream().copy(state.object.data(), estimate.object.data(), state.object.allocated_bytes());
  stream().copy(state.probe.data(), estimate.probe.data(), state.probe.allocated_bytes());
  if (!state.phase.empty()) stream().copy(state.phase.data(), estimate.phase.data(), state.phase.allocated_bytes());
  stream().synchronise();
}

/// For batches of up to that many frames. What is there already is kept when it suffices: recorded kernels know where.
template <class Real>
void DevicePass<Real>::Work::make_room(Index batch) {
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
  partial = Array(device, Shape{slots * device::strips_of(model->pixels()), device::fit_sums}, DType::f64);
  group_fft.reset();
  group_fft = Fft2d<Real>::prepare({.rows = rows, .cols = cols, .batch = slots * modes, .device = device});
  patterns->reserve(slots);
}

template <class Real>
void DevicePass<Real>::Work::transform(Stream& queue, const Fft2d<Real>& fft, void* waves_of_all,
                                       FftDirection direction) const {
  const View<Complex, 3> view(static_cast<Complex*>(waves_of_all), fft.key().batch, fft.key().rows, fft.key().cols);
  fft.transform(queue, view, view, direction);
}

template <class Real>
void DevicePass<Real>::Work::through_free_space(Stream& queue, Index gap, Wave* waves_of_all, bool back) {
  const device::Layout of = layout();
  transform(queue, *group_fft, waves_of_all, FftDirection::forward);
  run_on(queue, of.wave_pieces(),
         device::FreeSpace<Real>{of, wave(propagators) + gap * of.pixels(), unscale(), back, waves_of_all});
  transform(queue, *group_fft, waves_of_all, FftDirection::inverse);
}

/// From the probe through the slices to the detector, and the fit there; with `change` the far field becomes that of
/// chi.
template <class Real>
void DevicePass<Real>::Work::forward(Stream& queue, int buffer, bool change) {
  const device::Layout of = layout();
  run_on(queue, 1, device::NextGroup{elements<const Group>(groups), elements<Index>(cursor), elements<Group>(now)});
  if (shifted) {
    run_on(queue, slots, device::FillRamps<Real>{of, wave(ramps)});
    run_on(queue, of.wave_pieces(),
           device::ShiftProbe<Real>{of, wave(estimate.spectrum), wave(ramps), unscale(), wave(probes)});
    transform(queue, *group_fft, probes.data(), FftDirection::inverse);
  }
  for (Index s = 0; s < slices(); ++s) {
    if (s > 0) {
      queue.copy(before(s), waves.data(), waves.allocated_bytes());
      through_free_space(queue, s - 1, before(s), /*back=*/false);
    }
    run_on(queue, of.wave_pieces(), device::Illuminate<Real>{of, object(s), incident(s), wave(waves)});
  }
  transform(queue, *group_fft, waves.data(), FftDirection::forward);
  device::Residual<Real> residual;
  residual.of = of;
  residual.patterns = patterns->view(buffer);
  residual.weights = weights.empty() ? nullptr : elements<const Real>(weights);
  residual.loss = model->loss();
  residual.eps = model->eps();
  residual.smallest = std::numeric_limits<Real>::min() * Real(1e8);
  residual.intensity_scale = residual.scale = unscale();
  residual.change = change;
  residual.waves = wave(waves);
  residual.partial = elements<double>(partial);
  run_on(queue, residual.pieces(), residual);
  run_on(queue, 1, device::SumFit{of, residual.partial, elements<double>(fit)});
}

/// From chi at the detector back to the sums.
template <class Real>
void DevicePass<Real>::Work::gather(Stream& queue, Wanted wanted) {
  const device::Layout of = layout();
  transform(queue, *group_fft, waves.data(), FftDirection::inverse);
  for (Index s = slices() - 1; s >= 0; --s) {
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

/// After the last group of a batch.
template <class Real>
void DevicePass<Real>::Work::finish(Stream& queue, Wanted wanted, const Step& step) {
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
void DevicePass<Real>::Work::renew_spectrum(Stream& queue) {
  if (!shifted) return;
  queue.copy(estimate.spectrum.data(), estimate.probe.data(), estimate.probe.allocated_bytes());
  transform(queue, *probe_fft, estimate.spectrum.data(), FftDirection::forward);
}

template <class Real>
void DevicePass<Real>::Work::queue_recorded(int key, const std::function<void(Stream&)>& work) {
  recorded.try_emplace(key, work).first->second.run(stream());
}

template <class Real>
void DevicePass<Real>::Work::iterate(const Batches& batches, Wanted wanted, bool compares, const Step& step,
                                     std::span<FrameSums> to) {
  if (batches.members.empty()) return;
  Index largest_batch = 0;
  for (Index b = 0; b < batches.count(); ++b)
    largest_batch = std::max(largest_batch, static_cast<Index>(batches[b].size()));
  make_room(largest_batch);
  const std::vector<Group> list = cut(batches, slots);
  copy_and_wait(stream(), order.data(), batches.members.data(), batches.members.size() * sizeof(Index));
  copy_and_wait(stream(), groups.data(), list.data(), list.size() * sizeof(Group));
  stream().fill_zero(cursor.data(), cursor.allocated_bytes());

  // What is recorded depends on these alone.
  const int kind = (wanted.object ? 1 : 0) + (wanted.probe ? 2 : 0) + (wanted.weights ? 4 : 0) + (compares ? 8 : 0);
  constexpr int of_finish = 16, of_buffer = 32;
  const bool streams = patterns->tier() == PatternTier::host;
  for (std::size_t g = 0; g < list.size(); ++g) {
    check_interrupt();
    const int buffer = streams ? static_cast<int>(g % DevicePatterns::buffers) : 0;
    patterns->bring(std::span(batches.members)
                        .subspan(static_cast<std::size_t>(list[g].first), static_cast<std::size_t>(list[g].count)),
                    buffer);
    queue_recorded(kind + of_buffer * buffer, [this, wanted, compares, buffer](Stream& queue) {
      forward(queue, buffer, !compares);
      if (!compares) gather(queue, wanted);
    });
    patterns->leave(buffer);
    const bool closes = g + 1 == list.size() || list[g + 1].opens != 0;
    if (!closes || compares) continue;
    if (step)
      queue_recorded(kind + of_finish, [this, wanted, step](Stream& queue) { finish(queue, wanted, step); });
    else
      finish(stream(), wanted, step);
  }

  std::vector<double> all(static_cast<std::size_t>(fit.count()));
  copy_and_wait(stream(), all.data(), fit.data(), fit.allocated_bytes());
  for (const Index frame : batches.members) {
    const double* own = all.data() + frame * device::fit_sums;
    to[static_cast<std::size_t>(frame)] = {own[0], own[1], own[2], own[3], own[4]};
  }
}

template <class Real>
DevicePass<Real>::DevicePass(const Model<Real>& model, DevicePatterns& patterns, GroupLimits limits)
    : work_(std::make_unique<Work>(model, patterns, limits)) {}

template <class Real>
DevicePass<Real>::~DevicePass() {
  try {
    work_->stream().synchronise();
  } catch (...) {  // the failure itself has been thrown where it was met
  }
}

template <class Real>
void DevicePass<Real>::take(const State& state) {
  work_->take(state);
}

template <class Real>
void DevicePass<Real>::give(State& state) {
  work_->give(state);
}

template <class Real>
void DevicePass<Real>::run(std::span<const Index> batch, Wanted wanted, BatchSums& sums, std::span<FrameSums> fit) {
  work_->iterate(one_batch(batch), wanted, /*compares=*/false, {}, fit);
  Stream& stream = work_->stream();
  const auto bring = [&](const Array& from, Array& to) { to = from.copy_to(Device::cpu(), stream); };
  if (wanted.object) bring(work_->sums.object, sums.object);
  if (wanted.probe) bring(work_->sums.probe, sums.probe);
  if (!wanted.weights) return;
  if (wanted.object) bring(work_->sums.object_weight, sums.object_weight);
  if (wanted.probe) bring(work_->sums.probe_weight, sums.probe_weight);
  const Array largest = work_->sums.largest.copy_to(Device::cpu(), stream);
  const auto bits = largest.view<std::uint64_t, 1>();
  const Index slices = bits.extent[0] - 1;
  sums.largest_object_weight.clear();
  for (Index s = 0; s < slices; ++s) sums.largest_object_weight.push_back(device::number_of(bits[s]));
  sums.largest_probe_weight = device::number_of(bits[slices]);
}

template <class Real>
void DevicePass<Real>::compare(std::span<const Index> frames, std::span<FrameSums> fit) {
  work_->iterate(one_batch(frames), {}, /*compares=*/true, {}, fit);
}

template <class Real>
void DevicePass<Real>::iterate(const Batches& batches, Wanted wanted, const Step& step, std::span<FrameSums> fit) {
  work_->iterate(batches, wanted, /*compares=*/false, step, fit);
}

template class DevicePass<float>;
template class DevicePass<double>;

}  // namespace sonde::ptycho
