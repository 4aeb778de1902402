// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/stem/pass/operation.h"

namespace sonde::stem {

/// The centre of mass of one pattern in pixels of the resident detector. Standard errors are those of Poisson counts:
/// sigma_row^2 = sum (row - centre)^2 I / (sum I)^2. All NaN where nothing is summed.
struct PatternCentre {
  double row = 0, col = 0;
  double sigma_row = 0, sigma_col = 0;
};

/// Of every position, over the pixels whose value exceeds a threshold: total = sum I, moment_row = sum row I,
/// moment_col = sum col I, and square_row = sum (row - middle)^2 I, square_col about the middle pixel, rows / 2 and
/// cols / 2. Exact integers (u64) of counts as long as squares are below 2^64 (2^42 counts in a pattern of 4096 x 4096
/// pixels), f64 of floats.
class CentreSums final : public Operation {
 public:
  /// Without a threshold all pixels are summed. With bins, it is compared with their sums.
  explicit CentreSums(std::optional<double> threshold = {}) : threshold_(threshold) {}

  /// Throws Error(bad_input) for a threshold below 0.
  [[nodiscard]] Abilities abilities(const PassShape& shape) const override;
  void start(const PassShape& shape) override;
  [[nodiscard]] std::unique_ptr<State> make_state(const PassShape& shape) const override;
  void take(const Tile& tile, State* state) override;

  [[nodiscard]] std::optional<double> threshold() const { return threshold_; }
  /// After the pass.
  [[nodiscard]] PatternCentre centre(Index position) const;
  [[nodiscard]] double counts(Index position) const;

  Array total, moment_row, moment_col, square_row, square_col;  ///< (position)

 private:
  std::optional<double> threshold_;
  Index middle_row_ = 0, middle_col_ = 0;
};

}  // namespace sonde::stem
