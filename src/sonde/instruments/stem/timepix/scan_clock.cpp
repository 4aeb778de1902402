// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/timepix/scan_clock.h"

#include <algorithm>
#include <cmath>

namespace sonde::stem {
namespace {

// Exact: the difference is below 2^53 (27 days), and of a quotient that is just below a whole number the rounding to 53
// bits is less than what it lacks.
double steps_between(FineTicks from, FineTicks to, double dwell) {
  return std::floor(static_cast<double>(to - from) / dwell);
}

}  // namespace

ScanClock ScanClock::steady(Index rows, Index cols, double dwell, FineTicks start) {
  return ScanClock(rows, cols, dwell, false, start, 0);
}

ScanClock ScanClock::by_lines(Index rows, Index cols, double dwell, FineTicks delay) {
  return ScanClock(rows, cols, dwell, true, 0, delay);
}

void ScanClock::follow(FineTicks time) {
  while (!lines_.empty() && lines_.front() <= time) {
    start_ = lines_.front();
    line_ = std::min(line_ + 1, rows_);
    lines_.pop_front();
  }
}

Index ScanClock::at(FineTicks time) {
  if (!uses_lines_) {
    if (time < start_) return before;
    const double step = steps_between(start_, time, dwell_);
    return step < static_cast<double>(rows_ * cols_) ? static_cast<Index>(step) : Index{after};
  }
  follow(time);
  if (line_ < 0) return before;
  if (line_ >= rows_) return after;
  const double step = steps_between(start_, time, dwell_);
  if (step < static_cast<double>(cols_)) return line_ * cols_ + static_cast<Index>(step);
  return line_ == rows_ - 1 ? after : flyback;
}

Index ScanClock::reached(FineTicks time) {
  const Index most = rows_ * cols_;
  if (!uses_lines_) {
    if (time < start_) return 0;
    const double step = steps_between(start_, time, dwell_);
    return step < static_cast<double>(most) ? static_cast<Index>(step) + 1 : most;
  }
  follow(time);
  if (line_ < 0) return 0;
  if (line_ >= rows_) return most;
  const double step = steps_between(start_, time, dwell_);
  return line_ * cols_ + (step < static_cast<double>(cols_) ? static_cast<Index>(step) + 1 : cols_);
}

}  // namespace sonde::stem
