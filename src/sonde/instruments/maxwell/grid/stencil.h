// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>

#include "sonde/engine/base/index.h"

namespace sonde::maxwell {

inline constexpr int largest_half_order = 4;

/// c_1 ... c_M of the staggered first derivative of order 2M (Fornberg 1988), M = 1 to 4:
///   (Dh f)_i = (1/d) sum_m c_m (f_{i+m} - f_{i-m+1})   from planes to half planes,
///   (De g)_i = (1/d) sum_m c_m (g_{i+m-1} - g_{i-m})   from half planes to planes.
/// With the images of walls (wall_image) De = -Dh^T.
[[nodiscard]] std::span<const double> stencil_weights(int order);

/// sum |c_m|: what a derivative multiplies the highest frequency with, in units of 2/d.
[[nodiscard]] double stencil_sum(int order);

/// A plane or half plane beyond a perfectly conducting wall is read as the image of one inside: tangential E, on
/// planes, is odd about the walls at 0 and N, H, on half planes, is even. That keeps the full order at a wall.
struct WallImage {
  Index index;  ///< inside; of no meaning where sign is 0
  int sign;     ///< 1 inside; -1 or 1 for an image; 0 on a wall, where E vanishes
};
/// Of index -N <= i < 2N among N stored planes or half planes.
[[nodiscard]] constexpr WallImage wall_image(Index i, Index extent, bool half) {
  if (half) {
    if (i < 0) return {-1 - i, 1};
    if (i >= extent) return {2 * extent - 1 - i, 1};
    return {i, 1};
  }
  if (i == 0 || i == extent) return {0, 0};
  if (i < 0) return {-i, -1};
  if (i > extent) return {2 * extent - i, -1};
  return {i, 1};
}

}  // namespace sonde::maxwell
