// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/instruments/maxwell/invert/gather.h"
#include "sonde/instruments/maxwell/invert/trace_filter.h"

namespace sonde::maxwell {

enum class MisfitKind {
  l2,          ///< 1/2 sum w (d - d_obs)^2 (Ernst et al. 2007; Meles et al. 2010)
  envelope,    ///< 1/2 sum w (e - e_obs)^2 of envelopes: insensitive to cycle skips (Wu et al. 2014)
  correlation  ///< sum over traces of 1 - <d, d_obs> / (|d| |d_obs|): insensitive to amplitudes (Choi and Alkhalifah
               ///< 2012)
};

struct MisfitSettings {
  MisfitKind kind = MisfitKind::l2;
  /// Each trace is divided by its norm first. Amplitudes, of which the conductivity is found, then count for nothing.
  bool normalise_traces = false;
};

/// The misfit of records and its exact derivative. With norms and products <a, b> = sum w a b over a trace. The
/// envelope is e = sqrt(d^2 + H(d)^2 + g^2), H the Hilbert transform over the trace and as many zeros, g = 1e-6 of the
/// largest value of the measured envelope, so that it has a derivative where d vanishes. Traces without measured signal
/// count for nothing where a norm divides. Thread-safe.
class Misfit {
 public:
  Misfit(const MisfitSettings& settings, Index steps);

  /// `weights`: of each sample, as the records; empty: 1. Throws Error(bad_input) when the sizes differ.
  [[nodiscard]] RecordMisfit operator()(const Gather& computed, const Gather& measured,
                                        const std::vector<double>& weights) const;

 private:
  MisfitSettings settings_;
  TraceFilter hilbert_;
};

}  // namespace sonde::maxwell
