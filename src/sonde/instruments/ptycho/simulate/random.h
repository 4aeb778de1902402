// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <array>
#include <cstdint>

#include "sonde/engine/base/index.h"

namespace sonde::ptycho {

/// What the random numbers of a simulation are for; each use has numbers of its own.
enum class Use : std::uint32_t { displacement = 1, vacancy, noise, jitter, dead_pixel };

/// Two numbers that depend on nothing but seed, use and two indices (which may be negative).
[[nodiscard]] std::array<double, 2> uniform_pair(std::uint64_t seed, Use use, Index i, Index k = 0);  ///< in (0, 1)
[[nodiscard]] std::array<double, 2> normal_pair(std::uint64_t seed, Use use, Index i, Index k = 0);   ///< rms 1

}  // namespace sonde::ptycho
