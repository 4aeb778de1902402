// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <memory>
#include <span>
#include <vector>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/ptycho/engines/batch_settings.h"
#include "sonde/instruments/ptycho/engines/device_lsqml.h"
#include "sonde/instruments/ptycho/engines/engine.h"
#include "sonde/instruments/ptycho/model/batch_pass.h"

namespace sonde::ptycho {

struct StepSums;

struct LsqmlSettings {
  double damping = 0.1;  ///< of dim parts, as a share of the largest illumination
  double relax = 0.9;    ///< beta: share of the best step that is taken
  BatchSettings batch{.spread = Spread::compact};
  Loss loss = Loss::amplitude;

  static constexpr EngineTraits traits{.has_kernels = true, .can_be_shared = true};
  void describe(Fields& fields);
  [[nodiscard]] Passes passes() const { return {.together = Together::batch, .batch = batch, .sums_of_scan = true}; }
  [[nodiscard]] MemoryNeed memory(const WorkSizes& sizes, const BatchSizes& batch_sizes) const;
  [[nodiscard]] MemoryNeed memory_there(const WorkSizes& sizes, const BatchSizes& batch_sizes, Index in_flight) const;
};

/// Least-squares maximum likelihood (Odstrcil, Menzel and Guizar-Sicairos 2018, eqs. 19 to 25): the directions of
/// a batch's object and probe, and for every frame the two steps along them that fit its own exit wave best. Through
/// several slices every one has a direction and a step of its own, divided by the number of slices. The exit wave that
/// is fitted has the measured moduli, or with the loss `poisson` the largest likelihood along its gradient.
template <class Real>
class Lsqml final : public Engine<Real> {
 public:
  Lsqml(const LsqmlSettings& settings, Workbench<Real>& bench);
  void take(const LsqmlSettings& settings, Workbench<Real>&) { settings_ = settings; }
  void iterate(Workbench<Real>& bench, const Iteration& iteration) override;

 private:
  using Complex = std::complex<Real>;
  /// Of a batch: one per slice, and the probe's.
  struct Steps {
    std::vector<double> object;
    double probe = 0;
  };

  void illuminate(Workbench<Real>& bench);
  void directions(Workbench<Real>& bench);
  [[nodiscard]] Complex* chi_of(Index frame);
  void sum_steps(Workbench<Real>& bench, Index frame, Exposure<Real>& exposure, StepSums* sums);
  /// `members`: frames of the batch in all processes.
  [[nodiscard]] Steps steps(Workbench<Real>& bench, std::span<const Index> batch, Index members,
                            const Iteration& iteration);

  LsqmlSettings settings_;
  PerWorker<Exposure<Real>> exposures_;
  BatchSums sums_, scan_;     // of a batch; of the whole scan: only object_weight is used
  Array chi_;                 // (batch, M, Ny, Nx)
  Array spectrum_;            // of the probe's direction, where probes are shifted
  std::vector<Index> place_;  // of a frame in chi_
  std::unique_ptr<DeviceLsqml<Real>> there_;
};

}  // namespace sonde::ptycho
