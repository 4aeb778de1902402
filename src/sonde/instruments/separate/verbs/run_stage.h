// SPDX-License-Identifier: Apache-2.0
// Private to the room: one network of `separate run`, and its part of the work.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/memory/memory_plan.h"
#include "sonde/engine/run/run.h"
#include "sonde/instruments/separate/network/plan.h"
#include "sonde/instruments/separate/verbs/gpu_network.h"
#include "sonde/instruments/separate/verbs/run_options.h"
#include "sonde/instruments/separate/verbs/run_work.h"
#include "sonde/instruments/separate/view/stem_growth.h"
#include "sonde/instruments/separate/weights/model.h"

namespace sonde::separate {

/// A network, and all that is decided before it is prepared.
struct RunStage {
  bool is_second = false;
  Model model;
  Config config;
  SeparationSettings settings;
  std::vector<SeparationTask> tasks{};
  Work work{};
  PlanOptions algorithms{};         ///< on the CPU
  std::optional<GpuNetwork> gpu{};  ///< on a GPU
  MemoryPlan memory{};              ///< of the host

  /// "" or " of the second network", for names of choices and tables.
  [[nodiscard]] const char* whose() const { return is_second ? " of the second network" : ""; }
  /// The results of the run, and those of the second network in them.
  [[nodiscard]] sonde::Value& results(Run& run) const { return is_second ? run.results()["then"] : run.results(); }
};

/// Opens the checkpoint, says what it is and checks the settings of this network. Without tasks.
[[nodiscard]] RunStage open_stage(const RunOptions& options, bool is_second, Run& run);
/// Decides how the network is computed, within the budget, and what that makes of its numbers; says what it will hold.
/// `more_bytes`: what is held beside it.
void plan_network(RunStage& stage, const RunOptions& options, std::size_t more_bytes, Run& run);

/// What those see who watch: the stems of the file that is separated.
struct WatchedStems {
  explicit WatchedStems(const Config& first) : growth(first.stems(), first.sample_rate) {}
  StemGrowth growth;
  std::mutex mutex{};
};

/// A stage at work: the network, while it is there, and what is reported of it.
class WorkingStage {
 public:
  /// `since`: when the run began. Watched: nullptr where nobody does. All must live as long as this.
  WorkingStage(RunStage& stage, const RunOptions& options, const Stopwatch& since, WatchedStems* watched, Run& run);
  WorkingStage(const WorkingStage&) = delete;
  WorkingStage& operator=(const WorkingStage&) = delete;

  /// separate_files(), by the network, which is prepared if it is not there.
  void separate(const std::vector<SeparationTask>& tasks, const SeparationSettings& settings,
                const std::function<void(const SeparationTask&, const SeparationResult&)>& finished);
  /// Gives the memory of the network back.
  void release();
  /// Reports where the time went and what was held.
  void report();

 private:
  void prepare();
  void verify(const SeparationTask& task);

  RunStage& stage_;
  const RunOptions& options_;
  const Stopwatch& since_;
  Run& run_;
  std::unique_ptr<Network> network_;
  bool is_verified_ = false;
  std::vector<Network::Time> times_;  // of networks that were released
  sonde::Value first_pass_;           // what was noted there
};

}  // namespace sonde::separate
