// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/ptycho/run/job.h"

namespace sonde::ptycho {

/// How one first object did.
struct StartOutcome {
  Index start = 0;  ///< from 0
  Index iterations = 0;
  double score = 0;  ///< R_free, or R_I where no frame is held out; infinite when it failed
  bool chosen = false;
};

/// The number that tries are ranked by: R_free of the last iteration, else its R_I; infinite when the reconstruction
/// diverged or has not begun.
[[nodiscard]] double score_of(const Reconstruction& reconstruction);

/// [multi_start]: lets several random first objects go for some iterations with the same orders of frames, as many at
/// the same time as the plan says, and leaves the job with the one of the lowest score, the earlier one of equals: the
/// same bits however many work at once. Nothing happens with one start. Throws
/// Error(bad_input) when the first object is not random, Error(not_converged) when no start gets through.
/// When it is asked to stop the job has the best start until then.
[[nodiscard]] std::vector<StartOutcome> choose_start(Job& job, const RunFile& run);

}  // namespace sonde::ptycho
