// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/engine/run/verb.h"

namespace sonde::cli {

/// The list of all commands with their summaries.
[[nodiscard]] std::string overview();

/// The commands that begin with a word, "ptycho", with their summaries; empty when none does, or when the word is a
/// command itself.
[[nodiscard]] std::string group_overview(const std::string& group);

/// Everything about one command: usage, details, settings, examples.
[[nodiscard]] std::string command_help(const Verb& command);

/// The same as a page of the reference.
[[nodiscard]] std::string command_page(const Verb& command);

}  // namespace sonde::cli
