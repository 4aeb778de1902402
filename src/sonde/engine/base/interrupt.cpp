// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/base/interrupt.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>

#include "sonde/engine/base/error.h"

namespace sonde {
namespace {
constexpr std::int64_t never = -1;
std::atomic<int> requested_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);
std::atomic<void (*)()> look_watcher{nullptr};
std::atomic<std::int64_t> most_wait_ns{-1};      // below 0: SIGTERM does not wait
std::atomic<std::int64_t> wait_began_ns{never};  // when a SIGTERM that waits was first seen

int look() {
  if (void (*watcher)() = look_watcher.load(std::memory_order_relaxed)) watcher();
  return requested_signal.load(std::memory_order_relaxed);
}

bool termination_waits() {
  const std::int64_t most = most_wait_ns.load(std::memory_order_relaxed);
  if (most < 0) return false;
  const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  std::int64_t began = never;
  if (wait_began_ns.compare_exchange_strong(began, now, std::memory_order_relaxed)) began = now;
  return now - began <= most;
}
}  // namespace

void request_interrupt(int signal) noexcept { requested_signal.store(signal, std::memory_order_relaxed); }

void clear_interrupt() noexcept {
  requested_signal.store(0, std::memory_order_relaxed);
  wait_began_ns.store(never, std::memory_order_relaxed);
}

bool interrupt_requested() noexcept { return look() != 0; }

void watch_interrupt_looks(void (*watcher)()) noexcept { look_watcher.store(watcher, std::memory_order_relaxed); }

void check_interrupt() {
  switch (look()) {
    case 0:
      return;
    case SIGTERM:
      if (termination_waits()) return;
      throw Error(ErrorKind::terminated, "terminated; outputs that were not complete are removed");
    default:
      throw Error(ErrorKind::interrupted, "interrupted; outputs that were not complete are removed");
  }
}

TerminationWaits::TerminationWaits(double most_s) noexcept {
  most_wait_ns.store(static_cast<std::int64_t>(most_s * 1e9), std::memory_order_relaxed);
}

TerminationWaits::~TerminationWaits() { most_wait_ns.store(-1, std::memory_order_relaxed); }

}  // namespace sonde
