// SPDX-License-Identifier: Apache-2.0
// What the results of every instrument say of where they come from. Each adds what identifies its own input.
#pragma once

#include <cstdint>
#include <string>

#include "sonde/engine/options/value.h"

namespace sonde {

/// {"program", "version", "revision"}: what made the result.
[[nodiscard]] Value made_by();
/// The same for people: "sonde 0.1.0 (1a2b3c4)".
[[nodiscard]] std::string made_by_text();

/// The group "run" of a result: {"host", "input"}, the absolute path where there is such a file or folder, else the
/// name as it is (an array in memory). Equal runs may differ in this group and nowhere else.
[[nodiscard]] Value moment_of_run(const std::string& input);

/// The input's path in a record of where a result comes from; empty when there is none.
[[nodiscard]] std::string input_path(const Value& record);

/// "xxh3:0123456789abcdef"
[[nodiscard]] std::string hash_text(std::uint64_t xxh3);

}  // namespace sonde
