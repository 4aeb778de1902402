// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sonde/engine/io/checkpoint.h"
#include "sonde/engine/run/run.h"
#include "sonde/instruments/ptycho/run/run_file.h"

namespace sonde::ptycho {

/// From a resolved run file to the result: plan, memory, iterations with their log and checkpoints, pictures. `from`:
/// the checkpoint to go on from, or nullptr. `live_port`: shows the run in the browser while it works; 0 takes a free
/// port; `run` changes as somebody there changes it. Writes the best state also when the run is interrupted or
/// diverges, and throws afterwards. With an empty output.file (OutputSettings::write_nothing) it only gives arrays.
void reconstruct(RunFile& run_file, const CheckpointReader* from, std::optional<Index> live_port, Run& run);

/// --live, for the commands that reconstruct.
void describe_live(Fields& fields, std::optional<Index>& live);

}  // namespace sonde::ptycho
