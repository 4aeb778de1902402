// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/base/interrupt.h"

#include <unistd.h>

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
thread_local const Cancel* current_cancel = nullptr;
std::atomic<std::int64_t> first_signal_ns{never};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);
constexpr std::int64_t one_request_ns = 100'000'000;

std::int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

/// steady_clock is clock_gettime(), which a handler may call.
void on_signal(int signal) {
  const std::int64_t now = now_ns();
  std::int64_t first = never;
  if (first_signal_ns.compare_exchange_strong(first, now, std::memory_order_relaxed))
    request_interrupt(signal);
  else if (now - first >= one_request_ns)
    _exit(128 + signal);
}

int look() {
  if (void (*watcher)() = look_watcher.load(std::memory_order_relaxed)) watcher();
  return requested_signal.load(std::memory_order_relaxed);
}

bool termination_waits() {
  const std::int64_t most = most_wait_ns.load(std::memory_order_relaxed);
  if (most < 0) return false;
  const std::int64_t now = now_ns();
  std::int64_t began = never;
  if (wait_began_ns.compare_exchange_strong(began, now, std::memory_order_relaxed)) began = now;
  return now - began <= most;
}
}  // namespace

void request_interrupt(int signal) noexcept { requested_signal.store(signal, std::memory_order_relaxed); }

void clear_interrupt() noexcept {
  requested_signal.store(0, std::memory_order_relaxed);
  first_signal_ns.store(never, std::memory_order_relaxed);
  wait_began_ns.store(never, std::memory_order_relaxed);
}

void listen_for_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
}

bool interrupt_requested() noexcept { return look() != 0; }

void watch_interrupt_looks(void (*watcher)()) noexcept { look_watcher.store(watcher, std::memory_order_relaxed); }

void check_interrupt() {
  CancelScope::check();
  switch (look()) {
    case 0:
      return;
    case SIGTERM:
      if (termination_waits()) return;
      throw Error(ErrorKind::terminated, "terminated; outputs that were not complete are removed");
    case SIGHUP:
      if (termination_waits()) return;
      throw Error(ErrorKind::terminated, "the terminal was closed; outputs that were not complete are removed")
          .hint("start long work with nohup, or under tmux or screen");
    default:
      throw Error(ErrorKind::interrupted, "interrupted; outputs that were not complete are removed");
  }
}

void Cancel::request_at(std::chrono::steady_clock::time_point when) noexcept {
  const std::int64_t ns = when.time_since_epoch() / std::chrono::nanoseconds(1);
  for (std::int64_t now = from_ns_.load(std::memory_order_relaxed);
       ns < now && !from_ns_.compare_exchange_weak(now, ns, std::memory_order_relaxed);) {
  }
}

bool Cancel::itself_requested() const noexcept {
  const std::int64_t from = from_ns_.load(std::memory_order_relaxed);
  // The clock is asked only when there is a time to compare it with.
  return from != never && std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1) >= from;
}

bool Cancel::requested() const noexcept { return itself_requested() || (outer_ != nullptr && outer_->requested()); }

const std::string& Cancel::because() const noexcept {
  return outer_ != nullptr && outer_->requested() ? outer_->because() : because_;
}

CancelScope::CancelScope(const Cancel* cancel) noexcept : outer_(current_cancel) { current_cancel = cancel; }

CancelScope::~CancelScope() { current_cancel = outer_; }

const Cancel* CancelScope::current() noexcept { return current_cancel; }

void CancelScope::check() {
  if (current_cancel != nullptr && current_cancel->requested())
    throw Error(ErrorKind::interrupted, current_cancel->because());
}

TerminationWaits::TerminationWaits(double most_s) noexcept {
  most_wait_ns.store(static_cast<std::int64_t>(most_s * 1e9), std::memory_order_relaxed);
}

TerminationWaits::~TerminationWaits() { most_wait_ns.store(-1, std::memory_order_relaxed); }

}  // namespace sonde
