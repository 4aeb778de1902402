// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace sonde {

/// Asks the running work to stop. Async-signal-safe: the program's SIGINT and SIGTERM handlers call it with the signal.
void request_interrupt(int signal) noexcept;

/// Forgets a request (after it was answered, and between tests).
void clear_interrupt() noexcept;

/// Whether the work was asked to stop, for what must be saved before check_interrupt() ends it.
[[nodiscard]] bool interrupt_requested() noexcept;

/// Throws Error(interrupted) after SIGINT, Error(terminated) after SIGTERM. Long loops call it once per batch, so that
/// destructors run and nothing half-written stays behind. Costs two relaxed loads.
void check_interrupt();

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
