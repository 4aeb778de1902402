// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/engine/io/checkpoint.h"
#include "sonde/engine/run/run.h"
#include "sonde/instruments/ptycho/run/run_file.h"

namespace sonde::ptycho {

/// From a resolved run file to the result: plan, memory, iterations with their log and checkpoints, pictures. `from`:
/// the checkpoint to go on from, or nullptr. `run_file` changes as somebody changes it who watches (Run::live_port).
/// Writes the best state also when the run is interrupted or diverges, and throws afterwards. With an empty output.file
/// (OutputSettings::write_nothing) it only gives arrays.
void reconstruct(RunFile& run_file, const CheckpointReader* from, Run& run);

}  // namespace sonde::ptycho
