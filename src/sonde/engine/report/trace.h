// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/options/value.h"

namespace sonde {

/// What happened when, for the viewers of Chrome traces (chrome://tracing, Perfetto): spans on one line of time, which
/// nest by their times. From one thread at a time.
class Trace {
 public:
  /// Seconds since the trace began.
  [[nodiscard]] double now() const { return clock_.seconds(); }
  /// A span from `start_s` until now. `about` is an object of what else is known of it, or null.
  void add(const std::string& name, double start_s, const Value& about = {});
  /// {"traceEvents": [{"name", "ph": "X", "ts", "dur", "pid", "tid", "args"}], ...} with times in microseconds.
  [[nodiscard]] Value to_value() const;
  /// Writes to_value() as JSON, making the folder. Throws Error(io).
  void write(const std::string& path) const;

 private:
  Stopwatch clock_;
  Value events_ = Value::list();
};

}  // namespace sonde
