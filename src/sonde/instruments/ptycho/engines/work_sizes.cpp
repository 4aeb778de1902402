// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/engines/work_sizes.h"

#include <algorithm>

namespace sonde::ptycho {

Index Passes::most_together(Index frames, Index most_batch) const {
  switch (together) {
    case Together::one:
      return 1;
    case Together::batch:
      return std::min({batch.size, most_batch, frames});
    case Together::group:
    case Together::all:
      return frames;
  }
  return frames;
}

std::size_t sums_bytes(const WorkSizes& sizes, const BatchSizes& batch) {
  const std::size_t with_weight = sizes.complex_bytes() + sizes.real_bytes;
  const std::size_t probe = sizes.wave_bytes() + sizes.pixels() * sizes.real_bytes;
  return (sizes.object_pixels() + static_cast<std::size_t>(sizes.slices * batch.tile_pixels)) * with_weight +
         static_cast<std::size_t>(1 + batch.tiles) * probe;
}

}  // namespace sonde::ptycho
