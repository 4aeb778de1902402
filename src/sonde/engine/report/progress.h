// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/index.h"
#include "sonde/engine/base/pause.h"

namespace sonde {

/// How far a long piece of work is. Libraries only report it; the application draws it.
struct Progress {
  std::string stage;  ///< "loading"
  std::string unit;   ///< what is counted, "frames"
  Index done = 0;
  Index total = 0;        ///< 0 when unknown
  double rate = 0;        ///< units per second since the stage began
  double elapsed_s = 0;   ///< without pauses
  bool finished = false;  ///< the last word about this stage
};

/// May be called from several threads, never from two at once for one stage.
using ProgressSink = std::function<void(const Progress&)>;

/// Replaces the sink and returns the one before; like the log's, one of the few pieces of global state. Without a sink
/// progress costs one relaxed load per step.
ProgressSink set_progress_sink(ProgressSink sink);

/// Reports to those who would hear of a stage that this thread began now, for a scope that adds somebody.
[[nodiscard]] ProgressSink present_progress_sink();

/// While it lives, stages begun by this thread tell `sink` instead of the application's: a caller's own progress when
/// several threads work at once. Scopes nest; the innermost counts. Every thread that advances such a stage waits there
/// while `pause` is wanted, which has to live as long as the stages.
class ProgressScope {
 public:
  explicit ProgressScope(ProgressSink sink, Pause* pause = nullptr);
  ProgressScope(const ProgressScope&) = delete;
  ProgressScope& operator=(const ProgressScope&) = delete;
  ~ProgressScope();

  struct Listener {
    ProgressSink sink;
    Pause* pause;
  };

 private:
  std::shared_ptr<const Listener> outer_;
};

/// One stage of counted work. Reports to the sink at most ten times a second, when it is paused, and once at its end.
/// Thread-safe.
class ProgressMeter {
 public:
  ProgressMeter(std::string stage, Index total, std::string unit);
  ProgressMeter(const ProgressMeter&) = delete;
  ProgressMeter& operator=(const ProgressMeter&) = delete;
  ~ProgressMeter();
  /// Throws what the sink throws, and in a pause what check_interrupt() throws.
  void advance(Index steps = 1);

 private:
  enum class When { if_due, now, last };
  void tell(When when);

  Progress progress_;
  std::shared_ptr<const ProgressScope::Listener> own_;  // of the scope it began in
  double paused_before_s_ = 0;
  std::atomic<Index> done_{0};
  std::mutex mutex_;
  Stopwatch watch_;
  double told_s_ = 0;
};

}  // namespace sonde
