// SPDX-License-Identifier: Apache-2.0
// Private to the room: what a DevicePass holds on its device, and how the kernels of a group follow each other.
// Queueing allocates nothing and waits for nothing, so that it can be recorded; what allocates says so.
#pragma once

#include <complex>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sonde/engine/device/graph.h"
#include "sonde/engine/math/fft.h"
#include "sonde/instruments/ptycho/model/device_pass.h"
#include "sonde/instruments/ptycho/model/sums_device.h"

namespace sonde::ptycho {

/// Bytes to and from a device in order with a stream; ordinary memory may change or go when this returns.
inline void copy_and_wait(Stream& stream, void* to, const void* from, std::size_t bytes) {
  stream.copy(to, from, bytes);
  stream.synchronise();
}

template <class Real>
struct DeviceWork {
  using Wave = device::Complex<Real>;
  using Complex = std::complex<Real>;
  using Visit = DeviceVisit<Real>;
  using Step = typename DevicePass<Real>::Step;

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
  Array waves, probes, ramps, partial, by_slot;
  Array line_first, line_second, line_spectrum;  // of a line search, made with the first
  std::vector<Array> between;                    // what hits slice s + 1; each begins where a transform may
  std::optional<Fft2d<Real>> group_fft, probe_fft;
  std::map<std::pair<std::string, int>, Graph> recorded;

  DeviceWork(const Model<Real>& of, DevicePatterns& from, GroupLimits by);

  [[nodiscard]] Stream& stream() const { return patterns->stream(); }
  [[nodiscard]] Index slices() const { return model->slices(); }
  [[nodiscard]] Index slice_elements() const { return estimate.object.count() / slices(); }
  [[nodiscard]] Real unscale() const { return Real(1) / static_cast<Real>(model->pixels()); }

  template <class T>
  static T* elements(Array& array) {
    return static_cast<T*>(array.data());
  }
  static Wave* wave(Array& array) { return static_cast<Wave*>(array.data()); }
  Wave* object(Index slice) { return wave(estimate.object) + slice * slice_elements(); }
  Wave* before(Index slice) { return wave(between[static_cast<std::size_t>(slice - 1)]); }

  device::Layout layout();
  device::Incident<Real> incident(Index slice);
  /// With a slice in hand, and the patterns of a buffer.
  device::Flight<Real> flight(Index slice, int buffer);

  // These allocate, or wait.
  void take(const State& state);
  void give(State& state);
  /// For batches of up to that many frames. What is there already is kept when it suffices: recorded kernels know
  /// where.
  void make_room(Index batch);
  void make_line_room();

  // These queue.
  void transform(Stream& queue, const Fft2d<Real>& fft, void* waves_of_all, FftDirection direction) const;
  void through_free_space(Stream& queue, Index gap, Wave* waves_of_all, bool back);
  /// Goes on to the next group, and shifts a probe's spectrum to each of its patterns.
  void next_group(Stream& queue);
  void shift_probe(Stream& queue, const Wave* spectrum, Array& to);
  /// From the probe through the slices to the detector, and the fit there; with `change` the far field becomes that of
  /// chi.
  void forward(Stream& queue, int buffer, bool change);
  /// From chi at the detector back to the sums.
  void gather(Stream& queue, int buffer, Wanted wanted, const Visit& visit);
  /// After the last group of a batch.
  void finish(Stream& queue, Wanted wanted, const Step& step);
  void renew_spectrum(Stream& queue);
  /// Where the far field goes along directions of object and probe, and what the loss does there.
  void line(Stream& queue, int buffer, const Wave* object_direction, const Wave* probe_direction);

  /// work(queue, buffer) for every group of the batches, recorded under a name; `after` behind the last group of each.
  using GroupWork = std::function<void(Stream&, int buffer)>;
  void each_group(const Batches& batches, const std::string& name, bool with_patterns, const GroupWork& work,
                  const std::function<void()>& after);
  void iterate(const Batches& batches, Wanted wanted, bool compares, const Visit& visit, const Step& step,
               std::span<FrameSums> to);
  /// Waits for the fits of these frames.
  void bring_fit(std::span<const Index> frames, std::span<FrameSums> to);
  void queue_recorded(const std::string& name, int kind, const std::function<void(Stream&)>& work);
};

}  // namespace sonde::ptycho
