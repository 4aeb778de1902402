// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <csignal>

#include "sonde/engine/base/interrupt.h"

namespace sonde::testing {

/// Counts how often work looks whether to stop, and asks it to at one of these looks. One at a time.
class InterruptAt {
 public:
  /// `look`: from 1; 0 only counts.
  explicit InterruptAt(int look = 0) {
    looks_ = 0;
    last_ = look;
    watch_interrupt_looks([] {
      if (++looks_ == last_) request_interrupt(SIGINT);
    });
  }
  InterruptAt(const InterruptAt&) = delete;
  InterruptAt& operator=(const InterruptAt&) = delete;
  ~InterruptAt() {
    watch_interrupt_looks(nullptr);
    clear_interrupt();
  }

  [[nodiscard]] int looks() const { return looks_; }

 private:
  static inline std::atomic<int> looks_{0}, last_{0};
};

}  // namespace sonde::testing
