// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>

namespace sonde {

/// Processor time of the calling thread since construction, in seconds: it stands while the thread waits, or while
/// others have its core. To be read by the thread that made it.
class ThreadClock {
 public:
  [[nodiscard]] double seconds() const { return now() - start_; }

 private:
  [[nodiscard]] static double now() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }

  double start_ = now();
};

}  // namespace sonde
