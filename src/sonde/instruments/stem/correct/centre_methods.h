// SPDX-License-Identifier: Apache-2.0
// Private to the room: the methods of find_centre on a checked, dense pattern.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/stem/correct/centre.h"

namespace sonde::stem {

/// A dense pattern with invalid pixels; those hold 0.
struct Pattern {
  Index rows = 0, cols = 0;
  std::vector<double> value;
  std::vector<std::uint8_t> valid;

  [[nodiscard]] std::size_t at(Index row, Index col) const { return static_cast<std::size_t>(row * cols + col); }
};

[[nodiscard]] Centre centre_by_edge(const Pattern& pattern);
/// Mean + standard deviation of the good pixels.
[[nodiscard]] double threshold_level(const Pattern& pattern);
[[nodiscard]] Centre centre_by_threshold(const Pattern& pattern);
[[nodiscard]] Centre centre_by_plateau(const Pattern& pattern);
[[nodiscard]] Centre centre_of_mass(const Pattern& pattern);
[[nodiscard]] Centre centre_by_friedel(const Pattern& pattern);

/// The lower median of a copy; 0 for none.
[[nodiscard]] double median_of(std::vector<double> values);

}  // namespace sonde::stem
