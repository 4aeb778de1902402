// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <vector>

#include "sonde/instruments/maxwell/invert/gather.h"
#include "sonde/instruments/maxwell/invert/trace_filter.h"

namespace sonde::maxwell {

/// The filter that makes of a source the one that explains measured records best, in the model that the computed ones
/// are of (Ernst et al. 2007, Geophysics 72, J53; Pratt 1999, Geophysics 64, 888): at each frequency, over all traces,
///   S_new / S_old = (sum conj(d) d_obs + lambda) / (sum |d|^2 + lambda),  lambda = damping * max over f of sum |d|^2.
/// Frequencies without energy keep the source, so that the band of a stage leaves the others to the next ones. For one
/// shot, or for several that have one source. Records should have decayed at their end.
class SourceEstimate {
 public:
  explicit SourceEstimate(Index samples);

  /// Samples of weight 0 count as 0 in both; `weights` empty: none do. The records of a stage, after its filter.
  void add(const Gather& computed, const Gather& measured, const std::vector<double>& weights);
  /// For source signals as for traces: rows of samples. damping > 0.
  [[nodiscard]] TraceFilter correction(double damping) const;

 private:
  Index samples_;
  std::vector<std::complex<double>> cross_;  // sum conj(d) d_obs
  std::vector<double> power_;                // sum |d|^2
};

}  // namespace sonde::maxwell
