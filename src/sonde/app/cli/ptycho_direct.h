// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sonde/app/cli/command.h"
#include "sonde/instruments/ptycho/run/direct_job.h"

namespace sonde::cli {

/// From a run file to a one-shot reconstruction: plan and memory are told and checked first, the measurement is read,
/// what was found is told and reported. Nothing when only a plan is wanted (Context::dry_run).
[[nodiscard]] std::optional<ptycho::DirectOutcome> reconstruct_directly(const ptycho::RunFile& run,
                                                                        ptycho::DirectMethod method, Context& context);

/// When object.init asks for it: reconstructs directly, writes the start beside the result of the run, and resolves the
/// settings to it, so that they repeat the run. In a dry run only its plan is told.
void begin_directly(ptycho::RunFile& run, Context& context);

}  // namespace sonde::cli
