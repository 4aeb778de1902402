// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>
#include <string>

// What belongs to one run on one machine. Results keep it only in their group "run", so that equal runs are equal in
// everything else.

namespace sonde {

/// "2026-11-23T21:20:34Z": UTC, ISO 8601.
[[nodiscard]] std::string utc_text(std::time_t time);
[[nodiscard]] std::string utc_now();

/// Of this machine; empty when it has none.
[[nodiscard]] std::string host_name();

}  // namespace sonde
