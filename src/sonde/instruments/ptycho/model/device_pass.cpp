// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/model/device_pass.h"

#include <algorithm>
#include <cassert>

#include "sonde/instruments/ptycho/model/device_work.h"

namespace sonde::ptycho {
namespace {

/// All frames as one batch.
Batches one_batch(std::span<const Index> frames) {
  return {.members = {frames.begin(), frames.end()}, .bounds = {0, static_cast<Index>(frames.size())}};
}

}  // namespace

Index group_size(Index batch, std::size_t wave_bytes, Index waves_per_pattern, GroupLimits limits) {
  const std::size_t pattern_bytes = std::max<std::size_t>(wave_bytes * static_cast<std::size_t>(waves_per_pattern), 1);
  const Index most = std::clamp<Index>(static_cast<Index>(limits.waves_bytes / pattern_bytes), 1, limits.most);
  const Index groups = std::max<Index>((batch + most - 1) / most, 1);
  return (std::max<Index>(batch, 1) + groups - 1) / groups;
}

template <class Real>
DevicePass<Real>::DevicePass(const Model<Real>& model, DevicePatterns& patterns, GroupLimits limits)
    : work_(std::make_unique<DeviceWork<Real>>(model, patterns, limits)) {}

template <class Real>
DevicePass<Real>::~DevicePass() {
  try {
    work_->stream().synchronise();
  } catch (...) {  // the failure itself has been thrown where it was met
  }
}

template <class Real>
void DevicePass<Real>::take(const State& state, bool between_pixels) {
  work_->take(state, between_pixels);
}

template <class Real>
void DevicePass<Real>::reserve(Index batch) {
  work_->make_room(batch);
}

template <class Real>
void DevicePass<Real>::forget() {
  work_->recorded.clear();
}

template <class Real>
void DevicePass<Real>::give(State& state) {
  work_->give(state);
}

template <class Real>
Stream& DevicePass<Real>::stream() {
  return work_->stream();
}

template <class Real>
DeviceEstimate& DevicePass<Real>::estimate() {
  return work_->estimate;
}

template <class Real>
const DeviceSums& DevicePass<Real>::sums() const {
  return work_->sums;
}

template <class Real>
device::Layout DevicePass<Real>::layout() const {
  return work_->layout();
}

template <class Real>
void DevicePass<Real>::probe_changed() {
  work_->renew_spectrum(work_->stream());
}

template <class Real>
void DevicePass<Real>::run(std::span<const Index> batch, Wanted wanted, BatchSums& sums, std::span<FrameSums> fit) {
  pass(batch, wanted, {}, fit);
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
  work_->compare(one_batch(frames), fit);
}

template <class Real>
void DevicePass<Real>::iterate(const Batches& batches, std::span<const DeviceRound<Real>> rounds,
                               std::span<FrameSums> fit) {
  work_->iterate(batches, rounds, fit);
}

template <class Real>
void DevicePass<Real>::pass(std::span<const Index> frames, Wanted wanted, const DeviceVisit<Real>& visit,
                            std::span<FrameSums> fit) {
  iterate(one_batch(frames), wanted, visit, {}, fit);
}

template <class Real>
std::array<double, 2> DevicePass<Real>::line_sums(std::span<const Index> frames, const Array& object_direction,
                                                  const Array& probe_direction) {
  using Wave = device::Complex<Real>;
  if (frames.empty()) return {};
  DeviceWork<Real>& work = *work_;
  work.make_room(static_cast<Index>(frames.size()));
  work.make_other_room(2);
  work.renew_direction(work.stream(), probe_direction);
  const auto* object = static_cast<const Wave*>(object_direction.data());
  const auto* probe = static_cast<const Wave*>(probe_direction.data());
  work.each_group(one_batch(frames), {{.name = "line",
                                       .with_patterns = true,
                                       .work =
                                           [&work, object, probe](Stream& queue, int buffer) {
                                             work.next_group(queue);
                                             work.line(queue, buffer, object, probe);
                                           },
                                       .after = {}}});
  const std::vector<double> all = work.bring_sums();
  std::array<double, 2> sums{};
  for (const Index frame : frames)
    for (std::size_t k = 0; k < 2; ++k) sums[k] += all[static_cast<std::size_t>(frame * device::fit_sums) + k];
  return sums;
}

template <class Real>
std::vector<PositionSums> DevicePass<Real>::position_sums(std::span<const Index> frames) {
  if (frames.empty()) return {};
  DeviceWork<Real>& work = *work_;
  assert(work.shifted);
  work.make_some_room(static_cast<Index>(frames.size()));
  work.make_other_room(2);
  work.each_group(one_batch(frames), {{.name = "positions",
                                       .with_patterns = true,
                                       .work =
                                           [&work](Stream& queue, int buffer) {
                                             work.next_group(queue);
                                             work.position(queue, buffer);
                                           },
                                       .after = {}}});
  const std::vector<double> all = work.bring_sums();
  std::vector<PositionSums> sums;
  for (const Index frame : frames) {
    const double* own = all.data() + frame * device::fit_sums;
    sums.push_back({own[0], own[1], own[2], own[3], own[4]});
  }
  return sums;
}

template class DevicePass<float>;
template class DevicePass<double>;

}  // namespace sonde::ptycho
