// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sonde/app/cli/command.h"
#include "sonde/engine/io/checkpoint.h"
#include "sonde/instruments/ptycho/run/run_file.h"

namespace sonde::cli {

/// Throws what require_place() throws, and Error(bad_input) when `path` is the measurement: hours of work must not end
/// without a place for the result.
void require_output(const std::string& path, const ptycho::RunFile& run);
/// The same for everything that a run is sure to write.
void require_outputs(const ptycho::RunFile& run);

/// From a resolved run file to the result: plan, memory, iterations with their log and checkpoints, pictures. `from`:
/// the checkpoint to go on from, or nullptr. `live_port`: shows the run in the browser while it works; 0 takes a free
/// port; `run` changes as somebody there changes it. Writes the best state also when the run is interrupted or
/// diverges, and throws afterwards.
void reconstruct(ptycho::RunFile& run, const CheckpointReader* from, std::optional<Index> live_port, Context& context);

/// --live, for the commands that reconstruct.
void describe_live(Fields& fields, std::optional<Index>& live);

}  // namespace sonde::cli
