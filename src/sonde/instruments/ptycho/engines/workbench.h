// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sonde/instruments/ptycho/model/batch_pass.h"
#include "sonde/instruments/ptycho/model/device_pass.h"
#include "sonde/instruments/ptycho/model/exposure.h"
#include "sonde/instruments/ptycho/model/state.h"

namespace sonde::ptycho {

/// One iteration as an engine sees it.
struct Iteration {
  Index number = 1;         ///< of the whole run, from 1: what random orders depend on, so that a resumed run has them
  bool object_free = true;  ///< whether the object changes
  bool probe_free = true;
};

/// What engines work on: the model, the estimate, and the shared pieces they combine.
template <class Real>
class Workbench {
 public:
  /// `active` are the frames that count: neither held out nor skipped. `there`: the patterns on the device whose
  /// kernels compute; nullptr: the CPU's threads do. `model`, `state` and `there` must outlive this.
  Workbench(const Model<Real>& model, State& state, std::vector<Index> active, std::uint64_t seed,
            DevicePatterns* there = nullptr);

  [[nodiscard]] const Model<Real>& model() const { return *model_; }
  [[nodiscard]] State& state() { return *state_; }
  [[nodiscard]] const std::vector<Index>& active() const { return active_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  [[nodiscard]] BatchPass<Real>& pass() { return pass_; }
  /// The pass by a device's kernels, with the estimate as it is now; nullptr when the CPU computes. Whoever changes the
  /// estimate there gives it back to state() at the end of the iteration.
  [[nodiscard]] DevicePass<Real>* device_pass();
  /// The fit of these frames alone, wherever is computed.
  void compare(std::span<const Index> frames, std::span<FrameSums> fit);

  /// F P of the probe as it is, and of the components by which it varies, for Exposure::forward; engines call
  /// renew_spectrum() when they have changed the probe. Empty while every position lies on a pixel, and while a
  /// device's kernels compute.
  [[nodiscard]] Array& spectrum() { return spectrum_; }
  void renew_spectrum();
  /// From now on there is a spectrum even while every position lies on a pixel: positions will move.
  void keep_spectrum();
  /// The probe from its changed spectrum.
  void probe_from_spectrum();

  /// Per frame: the fit when the frame was last seen in this iteration.
  [[nodiscard]] std::vector<FrameSums>& fit() { return fit_; }

 private:
  const Model<Real>* model_;
  State* state_;
  std::vector<Index> active_;
  std::uint64_t seed_;
  BatchPass<Real> pass_;
  std::unique_ptr<DevicePass<Real>> device_pass_;
  bool device_is_behind_ = true;  // the state has changed since the device took it
  Array spectrum_;
  bool keep_spectrum_ = false;
  std::vector<FrameSums> fit_;
};

}  // namespace sonde::ptycho
