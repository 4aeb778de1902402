// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "sonde/engine/device/parallel.h"
#include "sonde/engine/math/optimise/conjugate_iteration.h"
#include "sonde/instruments/ptycho/engines/engine.h"
#include "sonde/instruments/ptycho/engines/mirrored.h"

namespace sonde::ptycho {

struct MlSettings {
  static constexpr Loss loss = Loss::intensity;  ///< the one whose line search is quadratic
  double probe_scale = 1;                        ///< how much the probe's gradient weighs against the object's

  static constexpr EngineTraits traits{.has_kernels = true, .can_be_shared = true, .knows_potentials = false};
  void describe(Fields& fields);
  [[nodiscard]] Passes passes() const { return {.together = Together::all, .sums_of_scan = true}; }
  [[nodiscard]] MemoryNeed memory(const WorkSizes& sizes, const BatchSizes& scan) const;
  [[nodiscard]] MemoryNeed memory_there(const WorkSizes& sizes, const BatchSizes& scan, Index in_flight) const;
};

/// Maximum likelihood by non-linear conjugate gradients (Thibault and Guizar-Sicairos 2012; docs/ptycho-theory.md#ml):
/// the gradient of all frames, a Polak-Ribiere direction of object and probe together, and the best step along it from
/// the quadratic that the loss is near the estimate, through all slices (engine/math/optimise). Complex objects.
template <class Real>
class Ml final : public Engine<Real> {
 public:
  Ml(const MlSettings& settings, Workbench<Real>& bench);
  void take(const MlSettings& settings, Workbench<Real>&) { settings_ = settings; }
  void iterate(Workbench<Real>& bench, const Iteration& iteration) override;
  std::vector<EngineMemory> memory() override;

 private:
  using Complex = std::complex<Real>;
  struct Mix {
    double keep = 0, fresh = 0;
  };
  /// What conjugate_iteration() asks for, by the CPU's threads and by a GPU.
  class Here;
  class There;

  /// Of object and probe together; sets probe_weight_.
  [[nodiscard]] GradientProducts together(const GradientProducts& object, const GradientProducts& probe);
  /// direction = keep direction + fresh gradient; nothing of either for what is not free.
  [[nodiscard]] static Mix mix(bool free, double beta, double fresh) { return free ? Mix{beta, fresh} : Mix{}; }
  /// B1 and B2 along the direction.
  [[nodiscard]] std::array<double, 2> line(Workbench<Real>& bench);
  /// The iteration from what the last one left.
  template <class Problem>
  void iterate_with(Problem&& problem);

  MlSettings settings_;
  PerWorker<Exposure<Real>> exposures_;
  PerWorker<std::vector<Complex>> room_;  // A1 and A2 of a frame
  BatchSums sums_;
  Mirrored object_direction_, probe_direction_;
  Mirrored object_before_, probe_before_;  // minus the gradients of the iteration before
  Array spectrum_;                         // of the probe's direction, where probes are shifted
  Array last_;                             // f64: ConjugateMemory, the last step and 1 for a restart, else 0
  double probe_weight_ = 1;                // of the probe's gradient in this iteration
  Array partial_, totals_;                 // on the device: of products
};

}  // namespace sonde::ptycho
