// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <cstddef>
#include <string>

#include "sonde/engine/options/value.h"
#include "sonde/instruments/stem/view/arguments.h"

namespace sonde::stem {

/// The detector expression that a command describes: `expr` as it is, or `shape` with `params` as text. One language:
/// what a person draws can be typed, saved and given to `sonde stem image`. Numbers keep all their digits. Throws
/// Error(bad_input) when neither is given, or both; whether the expression makes sense is seen when it is parsed.
[[nodiscard]] std::string expression_of(const Arguments& arguments);

/// The table of shapes for a page's client: {"name", "form", "help", "arguments": [{"name", "role", "unit"}],
/// "optional", "groups"}, as docs/viewer-protocol.md has it.
[[nodiscard]] Value described_shapes();

/// An expression for titles and file names: numbers with at most three digits after the point, cut where it is longer.
/// What is computed and stored keeps all digits.
[[nodiscard]] std::string short_expression(const std::string& text, std::size_t longest = 80);

}  // namespace sonde::stem
