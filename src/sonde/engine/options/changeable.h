// SPDX-License-Identifier: Apache-2.0
// Settings that may be others while work runs, from one step to the next: those whose description says so
// (FieldInfo::changeable). They are named by their table, "engine.0.step", or "stop.delta" where there is one of it.
#pragma once

#include <string>

#include "sonde/engine/options/tables.h"

namespace sonde {

/// Each as {"setting": "engine.0.step", "of": "gd", "key", "help", "unit", "min", "max" (null where there is none),
/// "optional": whether null unsets it, "value"}. `of` is the kind of an item of a list, else the table.
[[nodiscard]] Value changeable_settings(const Tables& tables);

/// Sets one of them. Throws Error(usage) for a setting that is none of them, naming it, and for values outside of its
/// limits.
void set_changeable(Tables& tables, const std::string& setting, const Value& value);
/// What it is now. Throws Error(usage) for a setting that is none of them.
[[nodiscard]] Value changeable_value(const Tables& tables, const std::string& setting);

}  // namespace sonde
