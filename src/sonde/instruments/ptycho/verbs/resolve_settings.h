// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/run/run.h"
#include "sonde/instruments/ptycho/run/run_file.h"

namespace sonde::ptycho {

/// Whether a measurement may come without a run file: when it says all of itself or --set says something of [geometry],
/// with an engine that needs no settings then; or in any case, settings then being only those of --set.
enum class BareInput { describes_itself, any };

/// The settings that a command line means: INPUT is a run file (.toml), or patterns whose settings --config names, or
/// bare patterns. Over these count what was given to `run` of the settings of a run file, and most `set`, texts for
/// Tables::assign_text(). Throws Error(usage), all problems of
/// `set` together.
void resolve_settings(const std::string& input, const std::vector<std::string>& set, BareInput bare, Run& run,
                      RunFile& run_file);

}  // namespace sonde::ptycho
