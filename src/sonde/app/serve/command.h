// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "sonde/engine/panel/page.h"

namespace sonde::serve {

inline constexpr std::size_t longest_command_bytes = 64 * 1024;

/// Reads {"id": 17, "command": "set_position", "row": 3}. Throws Error(bad_file) for what is no JSON or too long, which
/// no client of ours sends, and Error(bad_input) for JSON that is no command: `id` must be a whole number from 1 to
/// 2^32 - 1, `command` a text.
[[nodiscard]] panel::Command parse_command(std::string_view text);

}  // namespace sonde::serve
