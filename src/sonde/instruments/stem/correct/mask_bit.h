// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace sonde::stem {

/// Bits of a pixel mask as NXdetector defines them. A pixel is bad when any bit but virtual_pixel is set.
namespace mask_bit {
inline constexpr std::uint32_t gap = 1u << 0, dead = 1u << 1, under_responding = 1u << 2, over_responding = 1u << 3,
                               noisy = 1u << 4, cluster = 1u << 6, user_defined = 1u << 8, virtual_pixel = 1u << 31;
[[nodiscard]] constexpr bool is_bad(std::uint32_t bits) { return (bits & ~virtual_pixel) != 0; }
}  // namespace mask_bit

}  // namespace sonde::stem
