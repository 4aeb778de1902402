// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

#include "sonde/engine/base/index.h"

// Products and sums of sizes that a file or a user states: the largest Index where they do not fit into 63 bits, so
// that comparisons with what is there hold. For sizes of at least 0.

namespace sonde {

inline constexpr Index saturated = std::numeric_limits<Index>::max();

[[nodiscard]] constexpr Index saturating_product(Index a, Index b) {
  Index product = 0;
  return __builtin_mul_overflow(a, b, &product) ? saturated : product;
}
[[nodiscard]] constexpr Index saturating_sum(Index a, Index b) {
  Index sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? saturated : sum;
}

}  // namespace sonde
