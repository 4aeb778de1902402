// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

namespace sonde::neoclassical {

/// When to stop correcting the solution of one drive: rows of small blocks meet solutions of the order of 1 / nu_hat,
/// and the first substitution leaves some of their rounding. Numbers that are none end it.
class Corrections {
 public:
  /// What comes after a correction.
  enum class Next {
    correct,    ///< once more
    stop,       ///< with the solution as it is
    take_back,  ///< the last correction, then stop: the one before was as good as it gets
  };

  /// `source` is the largest source; where it is zero so is the solution, and nothing is to be corrected.
  explicit Corrections(double source) : source_(source), left_(source) {}

  /// After a correction: the largest of what is left of the rows, and what rounding the solution does to a row.
  [[nodiscard]] Next after(double left, double last_bits) {
    const bool better = left < left_, first = round_++ == 0;
    if (!better && !first) return Next::take_back;
    const bool enough = left > left_ / 4 || left <= last_bits;
    left_ = left;
    if (!better) return Next::stop;  // nothing to go back to
    return enough || round_ == most ? Next::stop : Next::correct;
  }

  /// The largest of what is left of the rows.
  [[nodiscard]] double left() const { return left_; }
  /// The same relative to the largest source.
  [[nodiscard]] double residual() const { return source_ == 0 ? 0 : left_ / source_; }

 private:
  static constexpr int most = 4;
  double source_, left_;
  int round_ = 0;
};

/// What rounding a solution does to a row, from the largest of its elements and of the sums of magnitudes along a row.
[[nodiscard]] inline double row_rounding(double largest_row, double largest_element) {
  return std::numeric_limits<double>::epsilon() * largest_row * largest_element;
}

}  // namespace sonde::neoclassical
