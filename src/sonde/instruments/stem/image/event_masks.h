// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sonde/instruments/stem/image/mask.h"

namespace sonde::stem {

/// Sums of boolean masks over lists of electrons, several masks in one reading of a list: an electron costs one look at
/// its pixel, and one addition for each mask that has it. Const access is thread-safe.
class EventMasks {
 public:
  static constexpr std::size_t most_masks = 64;

  /// At most most_masks masks, boolean and of one detector.
  [[nodiscard]] static EventMasks prepare(std::span<const Mask> masks);

  /// sums[mask] += electrons in its pixels; each is a pixel row * cols + col of the detector.
  void add(std::span<const std::uint32_t> electrons, std::span<std::uint64_t> sums) const {
    for (const std::uint32_t pixel : electrons)
      for (std::uint64_t masks = masks_of_[pixel]; masks != 0; masks &= masks - 1)
        ++sums[static_cast<std::size_t>(__builtin_ctzll(masks))];
  }

 private:
  std::vector<std::uint64_t> masks_of_;  // (pixel): bit m is set where mask m has it
};

}  // namespace sonde::stem
