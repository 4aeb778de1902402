// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/run/run.h"
#include "sonde/instruments/ptycho/live/live_run.h"
#include "sonde/instruments/ptycho/run/job.h"

namespace sonde::ptycho {

/// Iterates to the end, or until somebody at `live` (which may be nullptr) asks to stop, with what the run file wants
/// on the way: log, checkpoints, previews (run/iterate.h). What is changed there is changed in `run_file` too. Throws
/// what the job throws, and Error(interrupted) or Error(terminated).
void iterate_job(Job& job, RunFile& run_file, LiveRun* live, Run& run);

}  // namespace sonde::ptycho
