// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sonde/instruments/ptycho/engines/workbench.h"
#include "sonde/instruments/ptycho/model/measurement.h"
#include "sonde/instruments/ptycho/model/metrics.h"
#include "sonde/instruments/ptycho/reconstruct/schedule.h"

namespace sonde::ptycho {

/// By their numbers in the scan; sums are over all processes.
struct JudgedFrames {
  std::vector<Index> active, held;
  std::vector<Index> held_here;  ///< by the numbers of this process
  CountSums counts, held_counts;
};

/// Throws Error(bad_input) when no frame with counts takes part, and what hold_out() throws.
[[nodiscard]] JudgedFrames judged_frames(const Measurement& measurement, const Schedule& schedule);

/// The sums of frames of this process, over all processes.
template <class Real>
[[nodiscard]] Metrics judged(const Workbench<Real>& bench, const std::vector<FrameSums>& fit,
                             const std::vector<Index>& frames, const CountSums& counts);

/// R_free of the state as it is; `fit` is scratch, one for each frame. Nothing when no frame is held out.
template <class Real>
[[nodiscard]] std::optional<double> judged_by_held_out(Workbench<Real>& bench, const JudgedFrames& frames,
                                                       std::vector<FrameSums>& fit);

/// phase_roughness() of all processes, by their frames: each looks at the field of view of its own.
template <class Real>
[[nodiscard]] double roughness(const Workbench<Real>& bench, const State& state);

}  // namespace sonde::ptycho
