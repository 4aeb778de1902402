// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace sonde {

/// Wall time since construction or the last restart, in seconds, from a clock that never goes back.
class Stopwatch {
 public:
  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  void restart() { start_ = Clock::now(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace sonde
