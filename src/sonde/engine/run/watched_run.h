// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/options/fields.h"
#include "sonde/engine/report/progress.h"
#include "sonde/engine/run/live_page.h"
#include "sonde/engine/run/verb.h"

namespace sonde {

/// The page of `live` for a verb that has none of its own: how far its stages are (ProgressMeter), what it works with,
/// its settings, panels that it gives (Run::live), and how it ended. Made on the thread that runs the verb. While it
/// lives, every thread that advances a stage begun there waits in a pause, and "stop" ends the work as Ctrl-C does,
/// without ending other work of the process.
class WatchedRun {
 public:
  WatchedRun(const Verb& verb, const Fields& fields);
  WatchedRun(const WatchedRun&) = delete;
  WatchedRun& operator=(const WatchedRun&) = delete;
  ~WatchedRun() = default;

  [[nodiscard]] panel::Page page() const { return live_.page(); }
  /// "device", "cpu": beside what the verb works with.
  void add_fact(const std::string& name, const std::string& value);
  /// Of a run file, resolved.
  void add_settings(const Value& settings);
  /// Run::live().
  [[nodiscard]] std::shared_ptr<void> fill(std::function<LiveState()> state);
  void end_well();
  void end_by(const Error& error);

 private:
  void show(const Progress& progress);
  void end(const std::string& word, const std::string& because);
  /// With the mutex held.
  void offer(bool now);

  std::mutex mutex_;  // held while panels are made; the server never waits for it
  Value bar_ = Value::object(), facts_ = Value::list(), settings_ = Value::list();
  std::function<LiveState()> shown_;
  Stopwatch watch_;
  ShowingShare panels_share_;  // their own, so that costly panels leave the bar what it needs
  Cancel cancel_;
  LivePage live_;
  const CancelScope cancelled_{&cancel_};
  const ProgressSink shown_elsewhere_ = present_progress_sink();
  const ProgressScope progress_{[this](const Progress& progress) { show(progress); }, &live_.pause()};
};

}  // namespace sonde
