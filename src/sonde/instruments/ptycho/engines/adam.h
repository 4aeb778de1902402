// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/instruments/ptycho/engines/batch_settings.h"
#include "sonde/instruments/ptycho/engines/engine.h"
#include "sonde/instruments/ptycho/engines/mirrored.h"

namespace sonde::ptycho {

struct AdamSettings {
  double rate_object = 5e-3;
  double rate_probe = 1e-3;
  double beta1 = 0.9, beta2 = 0.999;
  BatchSettings batch;
  Loss loss = Loss::amplitude;

  static constexpr EngineTraits traits{.has_kernels = true, .can_be_shared = true};
  void describe(Fields& fields);
  [[nodiscard]] Passes passes() const { return {.together = Together::batch, .batch = batch}; }
  [[nodiscard]] MemoryNeed memory(const WorkSizes& sizes, const BatchSizes& batch_sizes) const;
  [[nodiscard]] MemoryNeed memory_there(const WorkSizes& sizes, const BatchSizes& batch_sizes, Index in_flight) const;
};

/// Adam (Kingma and Ba 2015, algorithm 1) on the gradient of a batch, scaled to the full scan. A complex number
/// has one second moment, E |g|^2, so that a global phase changes nothing. The probe's rate is in units of the mean
/// amplitude of its aperture: sqrt(mean counts / pixels of the aperture).
template <class Real>
class Adam final : public Engine<Real> {
 public:
  Adam(const AdamSettings& settings, Workbench<Real>& bench);
  void take(const AdamSettings& settings, Workbench<Real>&) { settings_ = settings; }
  void iterate(Workbench<Real>& bench, const Iteration& iteration) override;
  std::vector<EngineMemory> memory() override;

 private:
  using Complex = std::complex<Real>;
  void move_object(State& state, double scale);
  void move_probe(State& state, double scale);
  void iterate_there(Workbench<Real>& bench, DevicePass<Real>& there, const Iteration& iteration);

  AdamSettings settings_;
  BatchSums sums_;
  Mirrored object_mean_,
      object_square_;                   // (S, Y, X): mean of the gradient (complex, or real for a potential), of |g|^2
  Mirrored probe_mean_, probe_square_;  // (M, Ny, Nx)
  Mirrored steps_;                      // one i64 each: of the object and of the probe
  Array probe_unit_;                    // f64: from the probe that the engine began with
  Array worth_;                         // on the device: of the means, two of the object and two of the probe
};

}  // namespace sonde::ptycho
