// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/app/cli/command.h"
#include "sonde/engine/io/checkpoint.h"
#include "sonde/instruments/ptycho/run/run_file.h"

namespace sonde::cli {

/// From a resolved run file to the result: plan, memory, iterations with their log and checkpoints, pictures. `from`:
/// the checkpoint to go on from, or nullptr. Writes the best state also when the run is interrupted or diverges, and
/// throws afterwards.
void reconstruct(const ptycho::RunFile& run, const CheckpointReader* from, Context& context);

}  // namespace sonde::cli
