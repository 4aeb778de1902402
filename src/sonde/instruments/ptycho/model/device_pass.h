// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/device/stream.h"
#include "sonde/instruments/ptycho/model/batch_pass.h"
#include "sonde/instruments/ptycho/model/device_patterns.h"
#include "sonde/instruments/ptycho/model/position_sums.h"
#include "sonde/instruments/ptycho/scan/groups.h"

namespace sonde::ptycho {

namespace device {
struct Group;
struct Layout;
template <class Real>
struct Flight;
}  // namespace device

/// The estimate on a device. Shapes and types are those of State.
struct DeviceEstimate {
  ObjectType type = ObjectType::complex;
  Array object, phase, probe;
  Array spectrum;  ///< F P, while probes lie between pixels; else empty
};

/// BatchSums on a device. `largest` is u64, (S + 1): the bits of the largest weight of each slice and of the probe as
/// doubles, which are not negative.
struct DeviceSums {
  Array object, object_weight, probe, probe_weight, largest;
  const device::Group* now = nullptr;  ///< there: the last group of the batch, which knows how many members it has
};

/// How far the waves of a visit go before they come back.
enum class WayThere {
  detector,   ///< through the slices to the detector
  no_way,     ///< the hook `detector` fills the far field
  last_slice  ///< until it is known what hits every slice; the hook `exit` fills the waves behind the last one
};

/// What an engine does with a group of patterns where it wants other than chi and its sums. Hooks queue kernels, as
/// DeviceStep does, and see what is in flight (waves_device.h); an empty one leaves what is done for chi.
template <class Real>
struct DeviceVisit {
  using Hook = std::function<void(Stream& stream, const device::Flight<Real>& flight)>;

  std::string_view name = "chi";  ///< with equal Wanted equal names queue equal work: what is recorded is found by it
  WayThere way = WayThere::detector;
  bool brings = false;  ///< sums.probe, as the step before left it, is shifted to each pattern (Flight::brought)
  Hook share{};     ///< sees the far field; the first of each pattern's two in Flight::by_slot is then its share of chi
  Hook detector{};  ///< makes of the far field what goes back, in place of chi's; the fit is taken before
  Hook exit{};      ///< changes the waves behind the last slice before they are summed
  Hook slice{};  ///< in place of the object's sums and of conj(O): leaves in the waves what goes on before this slice
};

/// What an engine does with the sums of a batch: queues kernels that change the estimate, or the sums. It allocates
/// nothing and waits for nothing, since it may be recorded: until DevicePass::forget() it queues the same work for
/// equal names of visits and equal Wanted.
using DeviceStep = std::function<void(Stream& stream, DeviceSums& sums, DeviceEstimate& estimate)>;

/// One look at the frames of a batch: they are visited, summed, and then the step is made.
template <class Real>
struct DeviceRound {
  Wanted wanted{};
  DeviceVisit<Real> visit{};
  DeviceStep step{};
};

/// How many patterns are worked on together: their waves shall stay in the second-level cache of a large GPU (50 MB),
/// and leave it room for the object and the probe.
struct GroupLimits {
  Index most = 256;
  std::size_t waves_bytes = std::size_t{32} << 20;
};

/// Patterns of the groups into which batches of at most `batch` are cut. `waves_per_pattern`: modes, times one for the
/// exit wave, one more when probes are shifted, one more for each slice beyond the first.
[[nodiscard]] Index group_size(Index batch, std::size_t wave_bytes, Index waves_per_pattern, GroupLimits limits = {});

template <class Real>
struct DeviceWork;

/// BatchPass with the kernels of a device: the same sums from the same formulas, up to rounding, and the same bits in
/// every run on one kind of device. The estimate lives on the device between take() and give(); patterns are where
/// DevicePatterns has them. Everything is allocated with the first batch, and what only looks at frames (compare(),
/// position_sums()) works in groups as large as those of the batches before; the kernels of a group are recorded as a
/// graph where the device has graphs and gains by it.
///
/// An engine that does something else with its patterns than compare and sum says so by a DeviceVisit; the way through
/// shifts, slices and transforms stays the same.
///
/// One thread uses it. On the CPU its kernels are played by one thread: for tests.
template <class Real>
class DevicePass {
 public:
  /// Model and patterns, of one measurement, must outlive this.
  DevicePass(const Model<Real>& model, DevicePatterns& patterns, GroupLimits limits = {});
  DevicePass(const DevicePass&) = delete;
  DevicePass& operator=(const DevicePass&) = delete;
  /// Waits for the device.
  ~DevicePass();

  /// Copies the estimate to the device: before the first batch, and whenever the host has changed it. `between_pixels`:
  /// probes are shifted through their spectrum even while every position lies on a pixel.
  void take(const State& state, bool between_pixels = false);
  /// Copies object, phase and probe back.
  void give(State& state);
  /// Makes room for batches of up to so many frames before they come: who has others in every iteration has them cut
  /// alike, and so the same bits, whatever came before.
  void reserve(Index batch);

  /// As BatchPass::run, of the estimate that was taken. The sums come back to the host.
  void run(std::span<const Index> batch, Wanted wanted, BatchSums& sums, std::span<FrameSums> fit);
  /// As BatchPass::compare.
  void compare(std::span<const Index> frames, std::span<FrameSums> fit);

  /// All batches in turn, with each one round after the other; fills `fit` of their frames, unless it is empty. Nothing
  /// comes back to the host in between. Throws Error(interrupted), with the estimate on the device somewhere between
  /// two batches.
  void iterate(const Batches& batches, std::span<const DeviceRound<Real>> rounds, std::span<FrameSums> fit);
  /// With one round.
  void iterate(const Batches& batches, Wanted wanted, const DeviceVisit<Real>& visit, const DeviceStep& step,
               std::span<FrameSums> fit) {
    const DeviceRound<Real> round{wanted, visit, step};
    iterate(batches, {&round, 1}, fit);
  }
  /// What hooks and steps queue is from now on not what it was: settings have changed.
  void forget();
  /// The sums over these frames as one batch, which stay on the device.
  void pass(std::span<const Index> frames, Wanted wanted, const DeviceVisit<Real>& visit, std::span<FrameSums> fit);
  /// B1 and B2 of the line search along directions of object and probe, over these frames (docs/ptycho-theory.md#ml):
  /// arrays of the estimate's shapes on the device, at the same addresses in every call. For the loss `intensity`.
  [[nodiscard]] std::array<double, 2> line_sums(std::span<const Index> frames, const Array& object_direction,
                                                const Array& probe_direction);

  /// What the detector says of the shift of each of these frames, in their order. Needs probes between pixels.
  [[nodiscard]] std::vector<PositionSums> position_sums(std::span<const Index> frames);

  /// Where all kernels are queued. What engines queue here themselves is not recorded.
  [[nodiscard]] Stream& stream();
  /// Whoever changes the probe outside of a Step says so afterwards.
  [[nodiscard]] DeviceEstimate& estimate();
  void probe_changed();
  [[nodiscard]] const DeviceSums& sums() const;
  /// Which patterns are in flight, and where they lie: the same while batches are as large as before.
  [[nodiscard]] device::Layout layout() const;

 private:
  std::unique_ptr<DeviceWork<Real>> work_;
};

}  // namespace sonde::ptycho
