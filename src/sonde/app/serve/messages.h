// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sonde/engine/base/error.h"
#include "sonde/engine/panel/page.h"

namespace sonde::serve {

/// The text messages of `sonde.view.v1` (docs/viewer-protocol.md), each one line of JSON. Members of `result` and
/// `what` cannot replace those that make a message what it is.
[[nodiscard]] std::string page_message(const panel::Page& page, std::uint32_t client);
[[nodiscard]] std::string reply_message(const panel::Command& command, const Value& result);
[[nodiscard]] std::string event_message(std::string_view name, const Value& what);
/// `id` 0 and an empty command where it is not known what was asked.
[[nodiscard]] std::string error_message(std::uint32_t id, std::string_view command, const Error& error);

/// Any exception as an Error: what is none of ours is a broken promise of the program, but memory that was not had.
[[nodiscard]] Error current_error();

}  // namespace sonde::serve
