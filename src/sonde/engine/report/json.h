// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "sonde/engine/options/value.h"

namespace sonde {

/// JSON text, UTF-8, with the members in their order. `indent` < 0 gives one line. Numbers read back as the same value;
/// JSON knows no infinity and no not-a-number: they become null. Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string to_json(const Value& value, int indent = 2);

/// Throws Error(bad_file) with `name` and the byte where reading stopped on anything that is not one JSON value, and on
/// nesting deeper than 200.
[[nodiscard]] Value parse_json(std::string_view text, const std::string& name);

/// Reads a JSON file. Throws Error(bad_file) when it cannot be read or is not JSON.
[[nodiscard]] Value read_json(const std::string& path);

}  // namespace sonde
