// SPDX-License-Identifier: Apache-2.0
// Long work in the browser while it runs: what is shown of it, and what those who look may ask for.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/pause.h"
#include "sonde/engine/panel/page.h"

namespace sonde {

/// A setting that somebody wants to be another, or the work to begin again.
struct ChangeRequest {
  std::string setting{};  ///< empty: begin again
  Value value{};
  [[nodiscard]] bool restart() const { return setting.empty(); }
};

/// Work as it stands: options of panels by their ids, which take the place of those before, and frames; without any,
/// those that were shown last stay.
struct LiveState {
  Value panels = Value::object();
  std::vector<panel::Frame> frames{};
};

/// Decides whether showing may take time now: never more than a hundredth of what has gone by, nor oftener than ten
/// times a second. The server's threads take about as much again, on the same cores (`sonde bench ptycho-live`):
/// together a fiftieth.
class ShowingShare {
 public:
  static constexpr double most = 0.01, least_pause_s = 0.1;

  /// At `now_s` since the start of the work.
  [[nodiscard]] bool may_show(double now_s) const {
    return now_s - last_s_ >= least_pause_s && spent_s_ + last_cost_s_ <= most * now_s;
  }
  void showed(double now_s, double cost_s) {
    last_s_ = now_s;
    last_cost_s_ = cost_s;
    spent_s_ += cost_s;
  }

 private:
  double last_s_ = -1, last_cost_s_ = 0, spent_s_ = 0;
};

/// The page of long work ("Pages of work that runs" in docs/viewer-protocol.md). Those who look pause it, end it early,
/// begin it again or change its settings. update() and requests() belong to the thread that works, everything else to
/// the server; the page may outlive the work.
///
///   LivePage live({.title = "counting", .panels = {...}});
///   const auto shown = run.show(live.page(), port);
///   while (...) { step(); live.update(over, [&] { return state(); }); if (live.stop_asked()) break; }
class LivePage {
 public:
  struct Description {
    std::string title{};
    /// Behind the bar "run", which every such page has.
    std::vector<panel::Panel> panels{};
    std::string ended{};    ///< what the page says when the program has ended
    bool restarts = false;  ///< whether the work can begin again
    bool keeps = true;      ///< whether work that is stopped keeps what it has
    /// Called by the server when somebody asks the work to end, for work that does not ask stop_asked().
    std::function<void()> stop{};
    /// Whether a setting can be another one; returns options of panels that everybody sees then. Throws for settings
    /// and values that cannot be. Empty: nothing can be changed. One call at a time.
    std::function<Value(const std::string& setting, const Value& value)> accept{};
  };

  explicit LivePage(Description description);
  ~LivePage();
  LivePage(const LivePage&) = delete;
  LivePage& operator=(const LivePage&) = delete;

  [[nodiscard]] panel::Page page() const;

  /// Between two steps. Shows `state` when somebody looks and ShowingShare allows it, always when the work is over.
  /// `state` gives the options of "run" too: {"state", "over", "done", "total", "unit", "note", "facts", "because"}.
  /// Returns only when the work is not paused any more. Throws Error(interrupted) while it waits.
  void update(bool over, const std::function<LiveState()>& state);
  /// The same for work that waits elsewhere, by pause(), from one thread at a time: shown also where nobody looks yet,
  /// so that who comes finds it, when ShowingShare allows it or `now` says so.
  void offer(bool now, const std::function<LiveState()>& state);
  /// Wanted while somebody has paused the work; lives as long as the page.
  [[nodiscard]] Pause& pause() const;
  /// Somebody asked the work to end; what it has is to be kept.
  [[nodiscard]] bool stop_asked() const;
  /// What was asked for since the last time, in order.
  [[nodiscard]] std::vector<ChangeRequest> requests();
  /// Everybody sees this at once. `state` knows the requests that still wait; what it touches is what `accept` touches,
  /// never at the same time.
  void tell(const std::function<LiveState(const std::vector<ChangeRequest>& waiting)>& state);
  /// A request that cannot be met: everybody sees why.
  void refuse(const Error& error);

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace sonde
