// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <string>
#include <string_view>

#include "sonde/engine/options/value.h"

namespace sonde::stem {

/// The member of a saved state. Throws Error(bad_file) naming `where` and the key when it is absent.
[[nodiscard]] const Value& state_member(const Value& state, std::string_view key, const std::string& where);

/// Throws Error(bad_file) unless the schema is that of a state.
void require_state(const Value& state, const std::string& where);

}  // namespace sonde::stem
