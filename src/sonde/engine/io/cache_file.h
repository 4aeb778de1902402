// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace sonde {

/// $XDG_CACHE_HOME/sonde/<name>, else ~/.cache/sonde/<name>; empty when neither folder is known.
[[nodiscard]] std::string cache_path(const std::string& name);

/// Writes a whole file atomically, making its folder. Throws Error(io), also for an empty path.
void write_cache(const std::string& path, const std::string& text);

}  // namespace sonde
