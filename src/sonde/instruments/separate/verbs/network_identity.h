// SPDX-License-Identifier: Apache-2.0
// Private to the room: what says of a network which one it is.
#pragma once

#include <functional>
#include <string>

#include "sonde/engine/options/value.h"
#include "sonde/instruments/separate/verbs/run_stage.h"

namespace sonde::separate {

/// For Spool: what of a network decides the numbers, in lines of text. As SeparationSettings::origin.
[[nodiscard]] std::string network_origin(const RunStage& stage, const RunOptions& options, Run& run);
/// For summaries: what every file that it separates has in common. For one thread at a time; the checkpoint is open
/// from now on, and may be removed while the network works.
[[nodiscard]] std::function<sonde::Value()> network_summary(const RunStage& stage, const RunOptions& options);

}  // namespace sonde::separate
