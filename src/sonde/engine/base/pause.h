// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "sonde/engine/base/clock.h"

namespace sonde {

/// Lets work wait between two of its steps. Thread-safe; asking whether it is wanted costs a relaxed load.
class Pause {
 public:
  void begin();
  void end();
  [[nodiscard]] bool wanted() const noexcept { return wanted_.load(std::memory_order_relaxed); }
  /// Returns when it is not wanted any more: true; or after `most`: false.
  bool wait_for(std::chrono::milliseconds most);
  /// Returns when it is not wanted any more. Throws what check_interrupt() throws meanwhile.
  void wait();
  /// Of all pauses until now.
  [[nodiscard]] double seconds() const;

 private:
  std::atomic<bool> wanted_{false};
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  Stopwatch watch_;
  double began_s_ = 0, earlier_s_ = 0;
};

}  // namespace sonde
