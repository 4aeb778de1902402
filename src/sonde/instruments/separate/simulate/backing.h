// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <cstdint>
#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde::separate {

/// A bass on eighths, chords and a melody below drums of that tempo, both channels one after the other: (2, samples).
[[nodiscard]] std::vector<float> backing_music(std::uint64_t seed, double tempo, Index samples, Index rate);

}  // namespace sonde::separate
