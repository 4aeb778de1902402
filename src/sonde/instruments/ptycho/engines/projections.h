// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "sonde/engine/memory/store.h"
#include "sonde/instruments/ptycho/engines/engine.h"

namespace sonde::ptycho {

/// Engines between the set of waves P O and the set of waves with the measured moduli (docs/ptycho-theory.md):
///   psi+ = (1 - a - b) psi + a PiO(psi) + b PiF(c PiO(psi) + (1 - c) psi).
struct ProjectionSettings {
  double a = -1, b = 1, c = 2;
  double relax = 0.05;         ///< of the power bound; 0: the full modulus projection
  double keep_object = 1e-4;   ///< d_o: how much of the old object stays where there is little light
  double keep_probe = 1e-9;    ///< d_p
  Index rounds = 10;           ///< of object and probe in turn, at most
  double probe_change = 0.05;  ///< rounds end when the probe changes by less

  static constexpr EngineTraits traits{.has_kernels = true,
                                       .keeps_waves = true,
                                       .judges_result = true,
                                       .can_be_shared = true,
                                       .knows_slices = false,
                                       .has_steps = false};
  void describe(Fields& fields);
  [[nodiscard]] Passes passes() const { return {.together = Together::all, .sums_of_scan = true}; }
  [[nodiscard]] MemoryNeed memory(const WorkSizes& sizes, const BatchSizes& scan) const;
  [[nodiscard]] MemoryNeed memory_there(const WorkSizes& sizes, const BatchSizes& scan, Index in_flight) const;
};

/// dm(alpha): a = -alpha, b = 1, c = 1 + alpha (Thibault 2008, 2009 for alpha = 1).
struct DmSettings : ProjectionSettings {
  double alpha = 1;
  void describe(Fields& fields);
};
/// raar(beta): a = 1 - 2 beta, b = beta, c = 2 (Luke 2005).
struct RaarSettings : ProjectionSettings {
  double beta = 0.75;
  void describe(Fields& fields);
};
/// rrr(gamma): a = -gamma, b = gamma, c = 2 (Elser).
struct RrrSettings : ProjectionSettings {
  double gamma = 1;
  void describe(Fields& fields);
};
/// ap: alternating projections, a = 0, b = 1, c = 1.
struct ApSettings : ProjectionSettings {
  void describe(Fields& fields);
};

/// The same in a, b and c.
[[nodiscard]] inline ProjectionSettings weights_of(const ProjectionSettings& settings) { return settings; }
[[nodiscard]] ProjectionSettings weights_of(const DmSettings& settings);
[[nodiscard]] ProjectionSettings weights_of(const RaarSettings& settings);
[[nodiscard]] ProjectionSettings weights_of(const RrrSettings& settings);
[[nodiscard]] ProjectionSettings weights_of(const ApSettings& settings);

template <class Real>
class DeviceProjections;

/// Keeps the far field of every exit wave, (M, Ny, Nx) per frame, where and as the limits of the workbench say; the
/// same probe power in every frame, and one slice: no projection on the waves that several can make is known. An
/// iteration finds object and probe from the waves, then moves the waves; the sums for the next object are made on the
/// way, while the wave is in the cache. The fit is that of P O.
template <class Real>
class Projections final : public Engine<Real> {
 public:
  Projections(const ProjectionSettings& settings, Workbench<Real>& bench);
  template <class Settings>
  Projections(const Settings& settings, Workbench<Real>& bench) : Projections(weights_of(settings), bench) {}
  ~Projections() override;
  template <class Settings>
  void take(const Settings& settings, Workbench<Real>& bench) {
    take_weights(weights_of(settings), bench);
  }

  void iterate(Workbench<Real>& bench, const Iteration& iteration) override;
  std::vector<EngineMemory> memory() override;
  void state_changed() override {
    summed_probe_ = Array::zeros(Device::cpu(), summed_probe_.shape(), summed_probe_.dtype());
  }
  /// A wave goes with its probe: what the frame has found of the specimen is then taken from the new place. Its moduli
  /// on the detector stay.
  void positions_changed(Workbench<Real>& bench, std::span<const Placement> from) override;

 private:
  using Complex = std::complex<Real>;
  void take_weights(const ProjectionSettings& settings, Workbench<Real>& bench);
  /// A frame's waves: where they lie, or brought to exposure.others().
  Complex* waves_of(Index frame, Exposure<Real>& exposure);
  /// After they were changed.
  void keep(Index frame, Complex* waves);
  /// A frame's waves as they are kept, scaled for the transform back.
  void take_kept(Index frame, Exposure<Real>& exposure);
  /// A frame's exit wave in the plane of the object.
  void bring(Workbench<Real>& bench, Index frame, Exposure<Real>& exposure);
  void sum_for_object(Workbench<Real>& bench);
  void sum_for_probe(Workbench<Real>& bench);
  void solve_object(Workbench<Real>& bench);
  /// The relative change of the probe.
  double solve_probe(Workbench<Real>& bench);
  void move_waves(Workbench<Real>& bench);

  ProjectionSettings settings_;
  double bound_ = 0;
  Index modes_, rows_, cols_;
  Stream stream_;
  std::shared_ptr<Store> waves_;  // a slot per frame; a pass outlives the engine and asks whether it is still there
  std::unique_ptr<DeviceProjections<Real>> there_;  // then the waves are there, and none of the above is
  BatchSums sums_;
  Array summed_probe_;  // the probe that the object's sums were made with
};

}  // namespace sonde::ptycho
