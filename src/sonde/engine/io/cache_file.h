// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace sonde {

/// $XDG_CACHE_HOME/sonde/<name>, else ~/.cache/sonde/<name>; empty when neither folder is known.
[[nodiscard]] std::string cache_path(const std::string& name);

/// What a cache holds; nothing where there is none, or none that may be read, which is a note.
/// Reading it makes no input of it.
[[nodiscard]] std::optional<std::string> read_cache(const std::string& path);

/// Writes a whole file atomically, making its folder. Throws Error(io), also for an empty path, and Error(bad_input)
/// when a file is there that sonde did not write.
void write_cache(const std::string& path, const std::string& text);

}  // namespace sonde
