// SPDX-License-Identifier: Apache-2.0
// Private to the room: what a DevicePass holds on its device, and how the kernels of a group follow each other.
// Queueing allocates nothing and waits for nothing, so that it can be recorded; what allocates says so.
#pragma once

#include <complex>
#include <functional>
#include <initializer_list>
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
  using Round = DeviceRound<Real>;

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
  std::vector<Array> others;   // further waves of them, made where they are needed
  Array direction_spectrum;    // of what is brought from the probe's window, while probes are shifted
  std::vector<Array> between;  // what hits slice s + 1; each begins where a transform may
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
  void take(const State& state, bool between_pixels);
  void give(State& state);
  /// For batches of up to that many frames. What is there already is kept when it suffices: recorded kernels know
  /// where.
  void make_room(Index batch);
  /// For what can be done in groups of any size: as many as there is room for already.
  void make_some_room(Index batch);
  void make_other_room(std::size_t sets);

  // These queue.
  void transform(Stream& queue, const Fft2d<Real>& fft, void* waves_of_all, FftDirection direction) const;
  void through_free_space(Stream& queue, Index gap, Wave* waves_of_all, bool back);
  /// Goes on to the next group, and shifts a probe's spectrum to each of its patterns.
  void next_group(Stream& queue);
  void shift_probe(Stream& queue, const Wave* spectrum, Array& to);
  /// From the probe to the last slice: what hits every slice.
  void approach(Stream& queue);
  /// And on to the detector.
  void forward(Stream& queue);
  /// The fit there; with `change` the far field becomes that of chi, of which each pattern has its own share or all.
  void residual(Stream& queue, int buffer, bool change, bool shared);
  /// Sends other waves the way from before the first slice to the detector, in place.
  void propagate(Stream& queue, Wave* waves_of_all);
  /// From chi at the detector back to the sums.
  void gather(Stream& queue, int buffer, Wanted wanted, const Visit& visit);
  /// After the last group of a batch.
  void finish(Stream& queue, const Round& round);
  void renew_spectrum(Stream& queue);
  /// Of something in the probe's window, so that bring() finds it.
  void renew_direction(Stream& queue, const Array& direction);
  /// Puts it where the first of the other waves are, shifted to each pattern.
  void bring(Stream& queue);
  /// Where the far field goes along directions of object and probe, and what the loss does there.
  void line(Stream& queue, int buffer, const Wave* object_direction, const Wave* probe_direction);
  /// The far field, its derivatives by each frame's place, and PositionSums of the two.
  void position(Stream& queue, int buffer);

  /// work(queue, buffer) for every group of a batch, recorded under a name, and `after` behind the last one.
  struct GroupWork {
    std::string name;
    bool with_patterns = true;
    std::function<void(Stream&, int buffer)> work;
    std::function<void()> after;
  };
  /// Of each batch in turn all that is to be done with it.
  void each_group(const Batches& batches, std::span<const GroupWork> rounds);
  void each_group(const Batches& batches, std::initializer_list<GroupWork> rounds) {
    each_group(batches, std::span(rounds.begin(), rounds.size()));
  }
  void iterate(const Batches& batches, std::span<const Round> rounds, std::span<FrameSums> to);
  void compare(const Batches& batches, std::span<FrameSums> to);
  /// Waits for (frames, fit_sums).
  [[nodiscard]] std::vector<double> bring_sums();
  /// Waits for the fits of these frames.
  void bring_fit(std::span<const Index> frames, std::span<FrameSums> to);
  void queue_recorded(const std::string& name, int kind, const std::function<void(Stream&)>& work);
};

}  // namespace sonde::ptycho
