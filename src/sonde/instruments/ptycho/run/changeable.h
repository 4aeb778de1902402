// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/engine/options/value.h"
#include "sonde/instruments/ptycho/run/run_file.h"

namespace sonde::ptycho {

/// The settings of a run that may be others from one iteration to the next: real numbers of [[engine]] and
/// [[constraint]] tables, which are steps, shares and weights. Whole numbers and choices decide sizes and kinds of what
/// is in memory. Each as {"setting": "engine.0.step", "of": "gd", "key", "help", "unit", "min", "max" (null where there
/// is none), "optional": whether null unsets it, "value"}.
[[nodiscard]] Value changeable_settings(const RunFile& run);

/// Sets one of them. Throws Error(usage) for a setting that is none of them, naming it, and for values outside of its
/// limits.
void set_changeable(RunFile& run, const std::string& setting, const Value& value);
/// What it is now.
[[nodiscard]] Value changeable_value(const RunFile& run, const std::string& setting);

}  // namespace sonde::ptycho
