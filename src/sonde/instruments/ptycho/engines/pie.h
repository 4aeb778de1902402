// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/ptycho/engines/batch_settings.h"
#include "sonde/instruments/ptycho/engines/device_pie.h"
#include "sonde/instruments/ptycho/engines/engine.h"
#include "sonde/instruments/ptycho/engines/mirrored.h"
#include "sonde/instruments/ptycho/scan/groups.h"

namespace sonde::ptycho {

/// Which frames may be updated at the same time: none, or those whose probes do not meet.
enum class PieOrder { sequential, disjoint };

struct PieSettings {
  double step_object = 0.5, step_probe = 0.5;
  double alpha_object = 1, alpha_probe = 1;  ///< 1 divides by the maximum, 0 by the local illumination
  double support = 0.99;                     ///< disjoint: share of the probe's power that must not overlap
  PieOrder order = PieOrder::sequential;
  Loss loss = Loss::amplitude;
  Index momentum_every = 0;  ///< updates between kicks; 0: none. Complex objects, frame after frame
  double friction = 0.9;     ///< eta: share of its velocity that the object keeps
  double kick = 0.2;         ///< gamma: share of its velocity that the object moves by

  /// The defaults of rPIE, and of mPIE on top of them.
  [[nodiscard]] static PieSettings regularised() { return {.alpha_object = 0.1, .alpha_probe = 0.5}; }
  [[nodiscard]] static PieSettings momentum() {
    return {.alpha_object = 0.1, .alpha_probe = 0.5, .momentum_every = 100};
  }
  static constexpr EngineTraits traits{.has_kernels = true};
  void describe(Fields& fields);
  [[nodiscard]] Passes passes() const {
    return {.together = order == PieOrder::sequential ? Together::one : Together::group};
  }
  [[nodiscard]] MemoryNeed memory(const WorkSizes& sizes, const BatchSizes& group) const;
  [[nodiscard]] MemoryNeed memory_there(const WorkSizes& sizes, const BatchSizes& group, Index in_flight) const;
};

/// Frame by frame: ePIE (Maiden and Rodenburg 2009) with alpha = 1, rPIE (Maiden, Johnson and Li 2017) below, and mPIE
/// of the same paper: every T updates v = eta v + (O - O before these updates), O += gamma v. Through several slices as
/// in Maiden, Humphry and Rodenburg 2012. Formulas: docs/ptycho-theory.md#epie-rpie-mpie.
/// `sequential`: every frame sees what the one before it has changed; one thread by nature. `disjoint`: frames whose
/// probes do not meet form a group that all threads share; the probe is frozen inside a group and then takes the mean
/// of its members' changes. The largest |P|^2 is that of the probe shifted to its frame.
template <class Real>
class Pie final : public Engine<Real> {
 public:
  Pie(const PieSettings& settings, Workbench<Real>& bench);
  void take(const PieSettings& settings, Workbench<Real>&) { settings_ = settings; }
  void iterate(Workbench<Real>& bench, const Iteration& iteration) override;
  std::vector<EngineMemory> memory() override;

 private:
  using Complex = std::complex<Real>;
  /// A copy of the windows of one frame, (Ny, Nx), where the object cannot be changed in place.
  using Copy = std::vector<Complex>;

  /// Updates the object under one frame in `changed`, inside `box` of the window. Afterwards exposure.waves() is the
  /// change of the shifted probe. Returns the fit before.
  FrameSums update(Workbench<Real>& bench, const Iteration& iteration, Index frame, const Box& box,
                   Exposure<Real>& exposure, Copy& copy, Array& changed);
  /// Writes the part of an updated copy that lies in `box`.
  void commit(State& state, Index slice, const Exposure<Real>& exposure, const Box& box, const Copy& copy,
              Array& changed);
  void push(State& state);
  /// Between iterations `before_` holds how far the object is from it: what constraints do to the object meanwhile,
  /// such as the factor that keeps the probe's power, is no movement that a kick may go on with.
  void exchange_before(const State& state);
  void sequential(Workbench<Real>& bench, const Iteration& iteration);
  void disjoint(Workbench<Real>& bench, const Iteration& iteration);
  /// Of the present probe, in groups that do not meet.
  [[nodiscard]] Batches disjoint_batches(const Workbench<Real>& bench, State& state, const Iteration& iteration,
                                         Box& support) const;
  void iterate_there(Workbench<Real>& bench, DevicePass<Real>& there, const Iteration& iteration);
  void finish_group(State& state, std::span<const Index> group, const Box& box);

  PieSettings settings_;
  PerWorker<Exposure<Real>> exposures_;
  PerWorker<Copy> copies_;
  std::vector<std::vector<Complex>> probe_steps_;  // disjoint: of the pieces of a group
  Array next_;                                     // disjoint: the object with the group's changes
  Mirrored velocity_, before_;                     // momentum; see exchange_before()
  Mirrored updates_;                               // momentum: one i64, since the last kick
  DevicePie<Real> there_;
};

}  // namespace sonde::ptycho
