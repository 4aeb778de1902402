// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <cstdint>

#include "sonde/engine/math/random.h"

namespace sonde::ptycho {

/// The random streams of a simulation's seed. Streams 0, 1, ... are the counts of the patterns; these lie beyond.
enum class Use : std::uint64_t { lattice = std::uint64_t{1} << 62, noise, jitter, dead_pixels };

[[nodiscard]] inline RandomStream stream_for(std::uint64_t seed, Use use) {
  return {seed, static_cast<std::uint64_t>(use)};
}
[[nodiscard]] inline Random random_for(std::uint64_t seed, Use use) {
  return Random(seed, static_cast<std::uint64_t>(use));
}

}  // namespace sonde::ptycho
