// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sonde/engine/run/run.h"
#include "sonde/instruments/ptycho/run/direct_job.h"

namespace sonde::ptycho {

/// From a run file to a one-shot reconstruction: plan and memory are printed and checked first, the measurement is
/// read, what was found is printed and reported. Nothing when only a plan is wanted (Run::dry_run). `memory` is the
/// title of its plan.
[[nodiscard]] std::optional<DirectOutcome> reconstruct_directly(const RunFile& run_file, DirectMethod method, Run& run,
                                                                const std::string& memory = "memory");

/// When object.init asks for it: reconstructs directly, writes the start beside the result of the run, and resolves the
/// settings to it, so that they repeat the run. In a dry run only its plan is printed.
void begin_directly(RunFile& run_file, Run& run);

}  // namespace sonde::ptycho
