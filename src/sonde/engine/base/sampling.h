// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "sonde/engine/base/index.h"

namespace sonde {

/// Element `i` of `samples` that are spread over [0, count): one from each of `samples` equal stretches, in order, each
/// at another place of its stretch, so that a period of the elements (the rows of a scan) is not met at one phase only.
/// All elements when samples == count.
[[nodiscard]] inline Index spread_sample(Index i, Index samples, Index count) {
  // Multiples of the golden ratio: the sequence whose fractions are spread most evenly whatever its length.
  constexpr double golden = 0.6180339887498949;
  const double step = static_cast<double>(i) * golden, place = step - std::floor(step);
  const auto at =
      static_cast<Index>((static_cast<double>(i) + place) * static_cast<double>(count) / static_cast<double>(samples));
  return at < count ? at : count - 1;
}

}  // namespace sonde
