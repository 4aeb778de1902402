// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/panel/page.h"
#include "sonde/instruments/ptycho/optics/sampling.h"
#include "sonde/instruments/ptycho/quality/acquisition.h"
#include "sonde/instruments/ptycho/reconstruct/reconstruction.h"
#include "sonde/instruments/ptycho/results/changes.h"
#include "sonde/instruments/ptycho/run/run_file.h"

namespace sonde::ptycho {

/// The frame kind of a probe mode (its amplitude; the channel is the mode). Phase and amplitude of the object are
/// images of channel 0 and 1.
inline constexpr auto probe_frame = static_cast<panel::FrameKind>(100);

/// What stays the same during a run.
struct LiveFacts {
  std::string title{};                 ///< "result.h5"
  std::vector<std::string> engines{};  ///< names, in order
  Index iterations = 0;                ///< of all engines
  double floor = 0;                    ///< R_I that counting noise leaves; 0: not known
  double scan_step = 0;                ///< typical distance of positions, object pixels
  Sampling sampling{};
  double semiangle = 0;                      ///< of the aperture, rad; 0: not known
  std::optional<Acquisition> acquisition{};  ///< as the run began
  std::string settings{};                    ///< text of the run file; empty: nothing can be changed
};

/// A setting that somebody wants to be another, or the run to begin again.
struct ChangeRequest {
  std::string setting{};  ///< of changeable_settings(), its value is within its limits; empty: begin again
  Value value{};
  [[nodiscard]] bool restart() const { return setting.empty(); }
};

/// Decides whether showing may take time now: never more than a hundredth of what has gone by, nor oftener than ten
/// times a second. The server's threads take about as much again, on the same cores (`sonde bench ptycho-live`):
/// together a fiftieth.
class ShowingShare {
 public:
  static constexpr double most = 0.01, least_pause_s = 0.1;

  /// At `now_s` since the start of the run.
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

/// Shows a run while it works and lets those who look pause it, change its settings, begin it again or end it early.
/// update() belongs to the thread that iterates, everything else to the server; the page may outlive the run.
///
///   LiveRun live({.title = "result.h5"});
///   serve::Server server(live.page(), options);
///   while (...) { run.iterate(); live.update(run); if (live.stop_asked()) break; for (... : live.requests()) ...; }
class LiveRun {
 public:
  explicit LiveRun(LiveFacts facts);
  ~LiveRun();
  LiveRun(const LiveRun&) = delete;
  LiveRun& operator=(const LiveRun&) = delete;

  /// docs/viewer-protocol.md, "The ptychography page".
  [[nodiscard]] panel::Page page() const;

  /// Between two iterations. Sends what is new when somebody looks and ShowingShare allows it; always when the run is
  /// over. Returns only when it is not paused any more. Throws Error(interrupted) while it waits.
  void update(Reconstruction& run);
  /// Somebody asked the run to end; what it has will be written.
  [[nodiscard]] bool stop_asked() const;
  /// What was asked for since the last time, in order. Whoever takes them calls tell_settings() afterwards.
  [[nodiscard]] std::vector<ChangeRequest> requests();
  /// The settings as they are now, and all that was changed: everybody sees them.
  void tell_settings(const RunFile& run, const std::vector<Change>& changes);
  /// A request that cannot be met: everybody sees why.
  void refuse(const Error& error);

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace sonde::ptycho
