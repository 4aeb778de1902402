// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/ptycho/engines/batch_settings.h"
#include "sonde/instruments/ptycho/engines/engine.h"

namespace sonde::ptycho {

struct LsqmlSettings {
  double damping = 0.1;  ///< of dim parts, as a share of the largest illumination
  double relax = 0.9;    ///< beta: share of the best step that is taken
  BatchSettings batch{.spread = Spread::compact};
  Loss loss = Loss::amplitude;

  void describe(Fields& fields);
};

/// Least-squares maximum likelihood (Odstrcil, Menzel and Guizar-Sicairos 2018; specification 4.6): the directions of
/// a batch's object and probe, and for every frame the two steps along them that fit its own exit wave best.
template <class Real>
class Lsqml final : public Engine<Real> {
 public:
  Lsqml(const LsqmlSettings& settings, Workbench<Real>& bench);
  void iterate(Workbench<Real>& bench, const Iteration& iteration) override;

 private:
  using Complex = std::complex<Real>;
  void illuminate(Workbench<Real>& bench);
  void directions(Workbench<Real>& bench);
  /// Mean steps of object and probe.
  std::pair<double, double> steps(Workbench<Real>& bench, std::span<const Index> batch, const Iteration& iteration);

  LsqmlSettings settings_;
  PerWorker<Exposure<Real>> exposures_;
  BatchSums sums_, scan_;     // of a batch; of the whole scan: only object_weight is used
  Array chi_;                 // (batch, M, Ny, Nx)
  Array spectrum_;            // of the probe's direction, where probes are shifted
  std::vector<Index> place_;  // of a frame in chi_
};

}  // namespace sonde::ptycho
