// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace sonde {

/// Asks the running work to stop. Async-signal-safe: handlers of SIGINT and SIGTERM call it with the signal.
void request_interrupt(int signal) noexcept;

/// For programs: the first SIGINT or SIGTERM asks the work to stop, a second one ends the process at once, with status
/// 128 + signal and without destructors, for work that does not look. Two within a tenth of a second count as one:
/// timeout(1) and launchers of parallel jobs signal the process and then its group.
void listen_for_interrupts();

/// Forgets a request (after it was answered, and between tests).
void clear_interrupt() noexcept;

/// Whether the work was asked to stop, for what must be saved before check_interrupt() ends it.
[[nodiscard]] bool interrupt_requested() noexcept;

/// Throws Error(interrupted) after SIGINT and where the work of this thread was cancelled (CancelScope),
/// Error(terminated) after SIGTERM. Long loops call it once per batch, so that destructors run and nothing half-written
/// stays behind. Costs three relaxed loads.
void check_interrupt();

/// Asks one piece of work to stop, and does not stop the program: work that no client waits for any more. Thread-safe;
/// it outlives every scope that names it.
class Cancel {
 public:
  /// `because` is what check_interrupt() then says. Where `outer` is requested, which has to live as long, so is this.
  explicit Cancel(std::string because = "cancelled: the result is not wanted any more", const Cancel* outer = nullptr)
      : because_(std::move(because)), outer_(outer) {}
  /// Now.
  void request() noexcept { from_ns_.store(0, std::memory_order_relaxed); }
  /// From `when` on, unless it was asked for an earlier time.
  void request_at(std::chrono::steady_clock::time_point when) noexcept;
  [[nodiscard]] bool requested() const noexcept;
  /// Why, where it is requested.
  [[nodiscard]] const std::string& because() const noexcept;

 private:
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  [[nodiscard]] bool itself_requested() const noexcept;

  std::string because_;
  const Cancel* outer_;
  std::atomic<std::int64_t> from_ns_{never};  // of the steady clock
};

/// While it lives, check_interrupt() on this thread, and every piece of a parallel_for() that this thread calls, also
/// looks at `cancel`. nullptr: at none. Scopes nest; the innermost counts.
///
/// Work that is cancelled stops in the middle of a parallel loop: what it was writing must not be used afterwards.
class CancelScope {
 public:
  explicit CancelScope(const Cancel* cancel) noexcept;
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;
  ~CancelScope();
  /// What the innermost scope of this thread looks at.
  [[nodiscard]] static const Cancel* current() noexcept;
  /// Throws Error(interrupted) where that was requested; does not look for signals. Costs a load without a scope.
  static void check();

 private:
  const Cancel* outer_;
};

/// While one lives, check_interrupt() lets work go on after SIGTERM, to the end of a piece that is to be saved whole,
/// but no longer than `most_s` after it was first noticed: who sends SIGTERM often sends SIGKILL half a minute later.
/// SIGINT, a person who waits, does not wait. One at a time.
class TerminationWaits {
 public:
  explicit TerminationWaits(double most_s) noexcept;
  TerminationWaits(const TerminationWaits&) = delete;
  TerminationWaits& operator=(const TerminationWaits&) = delete;
  ~TerminationWaits();
};

/// Has `watcher` called whenever somebody looks whether to stop, before the answer; nullptr: nobody. For tests, which
/// count looks and ask to stop at one of them.
void watch_interrupt_looks(void (*watcher)()) noexcept;

}  // namespace sonde
