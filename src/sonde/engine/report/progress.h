// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/index.h"

namespace sonde {

/// How far a long piece of work is. Libraries only report it; the application draws it.
struct Progress {
  std::string stage;  ///< "loading"
  std::string unit;   ///< what is counted, "frames"
  Index done = 0;
  Index total = 0;  ///< 0 when unknown
  double rate = 0;  ///< units per second since the stage began
  double elapsed_s = 0;
  bool finished = false;  ///< the last word about this stage
};

/// May be called from several threads, never from two at once for one stage.
using ProgressSink = std::function<void(const Progress&)>;

/// Replaces the sink and returns the one before; like the log's, one of the few pieces of global state. Without a sink
/// progress costs one relaxed load per step.
ProgressSink set_progress_sink(ProgressSink sink);

/// While it lives, stages begun by this thread tell `sink` instead of the application's: a caller's own progress when
/// several threads work at once. Scopes nest; the innermost counts.
class ProgressScope {
 public:
  explicit ProgressScope(ProgressSink sink);
  ProgressScope(const ProgressScope&) = delete;
  ProgressScope& operator=(const ProgressScope&) = delete;
  ~ProgressScope();

 private:
  std::shared_ptr<const ProgressSink> outer_;
};

/// One stage of counted work. Reports to the sink at most ten times a second, and once at its end. Thread-safe.
class ProgressMeter {
 public:
  ProgressMeter(std::string stage, Index total, std::string unit);
  ProgressMeter(const ProgressMeter&) = delete;
  ProgressMeter& operator=(const ProgressMeter&) = delete;
  ~ProgressMeter();
  void advance(Index steps = 1);

 private:
  void tell(bool finished);

  Progress progress_;
  std::shared_ptr<const ProgressSink> own_;  // of the scope it began in
  std::atomic<Index> done_{0};
  std::mutex mutex_;
  Stopwatch watch_;
  double told_s_ = 0;
};

}  // namespace sonde
