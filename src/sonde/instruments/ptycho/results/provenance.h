// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "sonde/engine/options/value.h"

namespace sonde::ptycho {

/// Where a result comes from: program version and revision, device, start time (UTC, ISO 8601), seed, and the input's
/// absolute path, bytes, time of change and XXH3 of its first and last MiB; of an input that is no file its name alone.
[[nodiscard]] Value provenance(const std::string& input, const std::string& device, std::uint64_t seed);

}  // namespace sonde::ptycho
