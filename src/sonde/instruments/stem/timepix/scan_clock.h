// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/stem/timepix/packets.h"

namespace sonde::stem {

/// Which scan position the probe was at, by time. Times are given in ascending order.
///
/// By its own clock: position = floor((t - start) / dwell), row by row and without a break. By lines: the same for
/// columns, with the start of the line in place of that of the scan; what comes after the last column, before the next
/// line, is flyback.
class ScanClock {
 public:
  enum Outside : Index { before = -1, flyback = -2, after = -3 };

  /// `dwell` in fine ticks, above 0.
  static ScanClock steady(Index rows, Index cols, double dwell, FineTicks start);
  /// Lines begin at the edges that begin_line() is given, plus `delay`.
  static ScanClock by_lines(Index rows, Index cols, double dwell, FineTicks delay);

  /// In ascending order, and before a later time is asked for.
  void begin_line(FineTicks edge) { lines_.push_back(edge + delay_); }

  /// The position, row * cols + col, or where else it was. Times must not descend.
  [[nodiscard]] Index at(FineTicks time);

  /// How many positions, in the order of the scan, began no later than this, which no line or position asked for is
  /// after; of a line without its edge, none.
  [[nodiscard]] Index reached(FineTicks time);

  [[nodiscard]] bool uses_lines() const { return uses_lines_; }

 private:
  ScanClock(Index rows, Index cols, double dwell, bool uses_lines, FineTicks start, FineTicks delay)
      : rows_(rows), cols_(cols), dwell_(dwell), uses_lines_(uses_lines), start_(start), delay_(delay) {}
  void follow(FineTicks time);

  Index rows_, cols_;
  double dwell_;
  bool uses_lines_;
  FineTicks start_;  // of the scan, or of the present line
  FineTicks delay_;
  Index line_ = -1;              // the present one
  std::deque<FineTicks> lines_;  // to come
};

}  // namespace sonde::stem
