// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sonde/engine/memory/store.h"
#include "sonde/instruments/ptycho/engines/batch_settings.h"
#include "sonde/instruments/ptycho/model/batch_pass.h"
#include "sonde/instruments/ptycho/model/device_pass.h"
#include "sonde/instruments/ptycho/model/exposure.h"
#include "sonde/instruments/ptycho/model/state.h"
#include "sonde/instruments/ptycho/share/share.h"

namespace sonde::ptycho {

/// One iteration as an engine sees it.
struct Iteration {
  Index number = 1;         ///< of the whole run, from 1: what random orders depend on, so that a resumed run has them
  bool object_free = true;  ///< whether the object changes
  bool probe_free = true;
};

/// What a plan of the memory has decided for all engines.
struct WorkLimits {
  std::optional<Tier> wave_tier = Tier::host;            ///< of exit waves; empty: the nearest that has room
  Encoding wave_encoding = Encoding::raw;                ///< raw, or bf16 pairs
  std::optional<TierBudgets> budgets{};                  ///< empty: the host's memory, whatever it holds
  Index most_batch = std::numeric_limits<Index>::max();  ///< frames of a batch, whatever an engine asks for
  GroupLimits groups{};                                  ///< of the patterns that a device's kernels have in flight
};

/// The batches of one iteration: their members that are worked on here, and how many they have in all processes.
struct SharedBatches {
  Batches here;
  std::vector<Index> sizes;

  [[nodiscard]] Index count() const { return here.count(); }
  [[nodiscard]] std::span<const Index> operator[](Index batch) const { return here[batch]; }
};

/// What engines work on: the model, the estimate, and the shared pieces they combine. When several processes share a
/// scan, all that follows is about this process's part, and the sums of a pass are those of all processes.
template <class Real>
class Workbench {
 public:
  /// `active` are the frames that count: neither held out nor skipped; with several processes, which have a `share`,
  /// by their numbers in the whole scan. `there`: the patterns on the device whose kernels compute; nullptr: the CPU's
  /// threads do. `model`, `state`, `share` and `there` must outlive this.
  Workbench(const Model<Real>& model, State& state, std::vector<Index> active, std::uint64_t seed,
            WorkLimits limits = {}, Share* share = nullptr, DevicePatterns* there = nullptr);

  [[nodiscard]] const Model<Real>& model() const { return *model_; }
  [[nodiscard]] State& state() { return *state_; }
  [[nodiscard]] const std::vector<Index>& active() const { return active_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  [[nodiscard]] const WorkLimits& limits() const { return limits_; }
  [[nodiscard]] BatchPass<Real>& pass() { return pass_; }
  /// The pass by a device's kernels, with the estimate as it is now; nullptr when the CPU computes. Whoever changes the
  /// estimate there gives it back to state() at the end of the iteration.
  [[nodiscard]] DevicePass<Real>* device_pass();
  /// Settings of the engine have changed: what a device has recorded of its work is not what it does from now on.
  void settings_changed();
  /// Only the fit of these frames, wherever is computed.
  void compare(std::span<const Index> frames, std::span<FrameSums> fit);

  /// The batches of an iteration, the same whoever works on them.
  [[nodiscard]] SharedBatches batches(const BatchSettings& settings, Index iteration) const;
  /// Active frames of all processes.
  [[nodiscard]] Index active_in_all() const { return static_cast<Index>(active_of_scan_.size()); }
  /// nullptr when this process has the whole scan.
  [[nodiscard]] const Share* share() const { return share_; }
  /// Sums over the processes.
  void sum(std::span<double> values) const;
  void largest(std::span<double> values) const;
  /// The values of all processes.
  [[nodiscard]] std::vector<double> joined(std::vector<double> values) const;
  /// Once per batch: ends the work when it was asked to stop, in all processes at the same place.
  void check_interrupt() const;

  /// F P of the probe as it is, and of the components by which it varies, for Exposure::forward; engines call
  /// renew_spectrum() when they have changed the probe. Empty while every position lies on a pixel, and while a
  /// device's kernels compute.
  [[nodiscard]] Array& spectrum() { return spectrum_; }
  void renew_spectrum();
  /// From now on there is a spectrum even while every position lies on a pixel: positions will move.
  void keep_spectrum();
  /// Whoever has moved positions says so: a device has its own.
  void positions_changed() { device_is_behind_ = true; }
  /// The probe from its changed spectrum.
  void probe_from_spectrum();

  /// Per frame: the fit when the frame was last seen in this iteration.
  [[nodiscard]] std::vector<FrameSums>& fit() { return fit_; }

 private:
  const Model<Real>* model_;
  State* state_;
  Share* share_ = nullptr;
  std::vector<Index> active_of_scan_, active_;  // the latter by own numbers
  std::uint64_t seed_;
  WorkLimits limits_;
  BatchPass<Real> pass_;
  std::unique_ptr<DevicePass<Real>> device_pass_;
  bool device_is_behind_ = true;  // the state has changed since the device took it
  Array spectrum_;
  bool keep_spectrum_ = false;
  std::vector<FrameSums> fit_;
};

}  // namespace sonde::ptycho
