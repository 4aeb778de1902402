// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/panel/page.h"
#include "sonde/engine/run/live_page.h"
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

/// A reconstruction on a LivePage: object, probe, errors, diagnoses, and settings that may change. update(), requests()
/// and tell_settings() belong to the thread that iterates.
class LiveRun {
 public:
  explicit LiveRun(LiveFacts facts);

  [[nodiscard]] panel::Page page() const { return live_.page(); }
  /// Between two iterations (LivePage::update).
  void update(Reconstruction& run);
  [[nodiscard]] bool stop_asked() const { return live_.stop_asked(); }
  /// Whoever takes them calls tell_settings() afterwards.
  [[nodiscard]] std::vector<ChangeRequest> requests() { return live_.requests(); }
  /// The settings as they are now, and all that was changed: everybody sees them.
  void tell_settings(const RunFile& run, const std::vector<Change>& changes);
  void refuse(const Error& error) { live_.refuse(error); }

 private:
  /// As they will be when every request is met; those of the run belong to who iterates. The page may outlive the run.
  struct Settings {
    RunFile file;
    std::vector<Change> changes;
    [[nodiscard]] Value panels() const;
  };
  [[nodiscard]] LiveState state_of(const Reconstruction& run, const State& state) const;
  [[nodiscard]] LivePage::Description description() const;

  const LiveFacts facts_;
  const std::shared_ptr<Settings> settings_ = std::make_shared<Settings>();
  LivePage live_;
};

}  // namespace sonde::ptycho
