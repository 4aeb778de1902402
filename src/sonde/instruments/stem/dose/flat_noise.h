// SPDX-License-Identifier: Apache-2.0
// Private to the room: whether the noise of patterns is that of counted electrons.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sonde/engine/array/view.h"
#include "sonde/engine/base/index.h"

namespace sonde::stem {

/// Variance over mean of pixels where a pattern is flat: 1 for Poisson counts. Of the values I of 3 x 3 pixels the sum
///   D = sum w I,  w = (1 -2 1; -2 4 -2; 1 -2 1),
/// is free of any plane and any paraboloid along the axes, and of independent Poisson counts <D^2> = <sum w^2 I>, bent
/// backgrounds or not: the ratio is sum D^2 / sum w^2 I over all such squares.
class FlatNoise {
 public:
  /// Adds the squares of which all nine pixels are flat (flat[row * cols + col] != 0).
  void add(View<const float, 2> pattern, std::span<const std::uint8_t> flat);

  [[nodiscard]] Index squares() const { return squares_; }
  /// NaN where there are no counts.
  [[nodiscard]] double ratio() const;
  /// Its standard error, from the scatter of strips of rows that share no pixel but at their borders; infinite for
  /// fewer than two of them.
  [[nodiscard]] double sigma() const;
  /// Whether there are 100 counts and an error of at most 5 %, so that counts are outside of 0.8 to 1.2 once in 10^4
  /// scans.
  [[nodiscard]] bool known() const;
  /// Known, and outside of 0.8 to 1.2.
  [[nodiscard]] bool not_poisson() const;

 private:
  struct Sums {
    double of_squares = 0, of_counts = 0;
  };
  Index squares_ = 0;
  std::vector<Sums> strips_;
};

}  // namespace sonde::stem
