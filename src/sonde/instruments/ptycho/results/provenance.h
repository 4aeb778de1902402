// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "sonde/engine/options/value.h"

namespace sonde::ptycho {

/// Where a result comes from: program version and revision, device, seed, and the input's bytes and XXH3 of its first
/// and last MiB (where it is a file). The group "run" has what belongs to the moment: start time (UTC, ISO 8601), host,
/// the input's absolute path or name and its time of change.
[[nodiscard]] Value provenance(const std::string& input, const std::string& device, std::uint64_t seed);

}  // namespace sonde::ptycho
