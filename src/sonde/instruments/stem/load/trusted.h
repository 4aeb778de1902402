// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sonde/instruments/stem/load/dataset.h"

namespace sonde::stem {

/// The good pixels of the resident detector without those that are only marked as bad, and without bins that hold one:
/// what the centre of the pattern is found in.
[[nodiscard]] std::vector<std::uint8_t> trusted_pixels(const Dataset& dataset);

}  // namespace sonde::stem
