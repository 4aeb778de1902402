// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/engine/options/value.h"

namespace sonde {

/// Median; the mean of the middle two for an even number. `values` must not be empty. O(n).
[[nodiscard]] double median(std::vector<double> values);

/// Median of the distances from `centre`: a spread that single outliers cannot move. Times 1.4826 it estimates the
/// standard deviation of a normal distribution.
[[nodiscard]] double median_absolute_deviation(std::vector<double> values, double centre);

/// What repeated measurements of one time say.
struct Spread {
  double median = 0, min = 0, mad = 0;
  Index samples = 0;

  /// Standard deviation of the median for normal noise, 1.2533 x 1.4826 x mad / sqrt(samples); 0 without samples.
  [[nodiscard]] double uncertainty() const;
  /// {"median", "min", "mad", "samples"}.
  [[nodiscard]] Value to_value() const;
};

/// All zero for no values.
[[nodiscard]] Spread spread_of(const std::vector<double>& values);

}  // namespace sonde
