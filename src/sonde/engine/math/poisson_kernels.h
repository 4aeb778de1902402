// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sonde/engine/math/poisson.h"

namespace sonde::cpu {

inline constexpr std::size_t poisson_group = 256;    // elements per call: their scratch stays in the first-level cache
inline constexpr double largest_inverted_rate = 32;  // above, rejection is faster

/// Counts of elements [first, first + poisson_group) with rates between 0 and largest_inverted_rate; `first` is even.
void invert_poisson(RandomStream random, std::uint32_t first, const double* rates, std::uint32_t* counts);

}  // namespace sonde::cpu
