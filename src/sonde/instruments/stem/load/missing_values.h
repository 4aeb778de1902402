// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "sonde/instruments/stem/load/dataset.h"

namespace sonde::stem {

/// For who takes counts as measured: what has no value (not finite, or the sentinel) must not pass as a measured zero.
/// `good` is (rows, cols) of the binned detector, 1 where a pixel counts. Throws Error(bad_input) naming how many
/// values are missing there, with frame, row and column of the first.
void require_values(const Dataset& dataset, std::span<const std::uint8_t> good);

}  // namespace sonde::stem
