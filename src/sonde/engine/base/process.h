// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// Runs a program (first word, found on PATH) in `folder` (empty: here), waits for it, and returns its standard output;
/// nullopt when it cannot be started or ends with another status than 0. Its standard error is ours.
[[nodiscard]] std::optional<std::string> program_output(const std::vector<std::string>& command,
                                                        const std::string& folder = "");

/// What a program wrote, on standard output and standard error, and how it ended.
struct ProgramEnd {
  bool well = false;  ///< with status 0
  std::string text;
};

/// The same for a program whose messages are not ours: nothing of them reaches our standard error. nullopt when it
/// cannot be started.
[[nodiscard]] std::optional<ProgramEnd> program_end(const std::vector<std::string>& command,
                                                    const std::string& folder = "");

}  // namespace sonde
