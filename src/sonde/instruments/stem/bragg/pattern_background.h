// SPDX-License-Identifier: Apache-2.0
// Private to the room: the background of a pattern that is not disks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/stem/bragg/bragg_plan.h"

namespace sonde::stem {

/// Subtracts from every pattern its own background B, before anything else is done with it.
///  - constant: the median of the pixels;
///  - radial_median: with m(k) the median of the pixels at distances [k - 1/2, k + 1/2) from the origin, B(r) is linear
///    in r between m(k) and m(k + 1). Nearer than `hold`, where the direct disk fills whole rings, it is that of
///    `hold`; a ring without pixels has what is between its neighbours.
/// Medians are those of good pixels; of an even number, the mean of the two in the middle. A bad pixel that has no
/// value (0) keeps it. Nothing is cut off at 0: a zero that noise makes is not a disk.
class PatternRings {
 public:
  /// `good`: (rows, cols), empty: all.
  PatternRings(const DiskSettings& settings, Index rows, Index cols, double hold, std::span<const std::uint8_t> good);

  struct Room {
    std::vector<float> sorted;
    std::vector<double> levels;
  };
  [[nodiscard]] std::size_t bytes() const;
  void subtract(float* pattern, Room& room) const;

 private:
  [[nodiscard]] double distance(Index pixel) const;

  Index cols_;
  double row_, col_;
  std::size_t first_ring_;              // of those that count
  std::vector<std::uint32_t> by_ring_;  // good pixels, ring after ring
  std::vector<std::size_t> ends_;       // (ring)
  std::vector<std::uint32_t> ring_;     // (pixel): the ring inside its distance
  std::vector<float> share_;            // (pixel): of the next ring
  std::vector<std::uint32_t> bad_;
};

}  // namespace sonde::stem
