// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/base/interrupt.h"

#include <atomic>
#include <csignal>

#include "sonde/engine/base/error.h"

namespace sonde {
namespace {
std::atomic<int> requested_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);
std::atomic<void (*)()> look_watcher{nullptr};

int look() {
  if (void (*watcher)() = look_watcher.load(std::memory_order_relaxed)) watcher();
  return requested_signal.load(std::memory_order_relaxed);
}
}  // namespace

void request_interrupt(int signal) noexcept { requested_signal.store(signal, std::memory_order_relaxed); }

void clear_interrupt() noexcept { requested_signal.store(0, std::memory_order_relaxed); }

bool interrupt_requested() noexcept { return look() != 0; }

void watch_interrupt_looks(void (*watcher)()) noexcept { look_watcher.store(watcher, std::memory_order_relaxed); }

void check_interrupt() {
  switch (look()) {
    case 0:
      return;
    case SIGTERM:
      throw Error(ErrorKind::terminated, "terminated; outputs that were not complete are removed");
    default:
      throw Error(ErrorKind::interrupted, "interrupted; outputs that were not complete are removed");
  }
}

}  // namespace sonde
