// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/memory/budget.h"
#include "sonde/engine/options/value.h"
#include "sonde/engine/report/progress.h"
#include "sonde/instruments/ptycho/read/source.h"
#include "sonde/instruments/ptycho/run/job.h"
#include "sonde/instruments/ptycho/run/run_file.h"
#include "sonde/instruments/ptycho/sweep/sweep_file.h"

namespace sonde::ptycho {

/// How one trial stands.
struct TrialRecord {
  Trial trial;
  Index rounds = 0;  ///< that it has finished
  Index iterations = 0;
  double r_intensity = 0;
  std::optional<double> r_free{};
  std::string
      outcome{};  ///< empty until it has run; "goes on", "dropped", "finished", "converged", "diverged", "failed"
  std::string because{};
  double seconds = 0;

  /// R_free, else R_I; infinite when the trial failed or diverged, or has not run.
  [[nodiscard]] double score() const;
};

/// The record as state.json and the report of a sweep hold it; null for an R_I or R_free that there is not.
[[nodiscard]] Value to_value(const TrialRecord& record);

/// Indices of the trials, the best first: who came further, then the lower score.
[[nodiscard]] std::vector<std::size_t> ranking(const std::vector<TrialRecord>& trials);

/// Hears of a trial, by its number from 0.
using TrialSink = std::function<void(std::size_t trial, const TrialRecord& record)>;

/// A sweep over the settings of a run file. Trials run side by side and share the counts, which are read once, and the
/// plans of transforms; what they find does not depend on how many work at the same time. After every one the folder's
/// state.json says how all of them stand; a sweep that was interrupted goes on from there, in the middle of halving
/// from checkpoints.
class Sweep {
 public:
  /// Every trial's settings are checked and its memory planned, before any work. Throws Error(usage) and
  /// Error(bad_input) listing all settings that do not fit, Error(bad_input) when the folder holds another sweep.
  Sweep(const SweepFile& file, const RunFile& base, Source source);
  ~Sweep();

  [[nodiscard]] const std::vector<TrialRecord>& trials() const { return trials_; }
  [[nodiscard]] const std::vector<Round>& rounds() const { return rounds_; }
  /// Of the trial that needs most.
  [[nodiscard]] const JobPlan& largest() const { return largest_; }
  /// What is doubtful about the settings of any trial, each sentence once.
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

  /// What the sweep writes into its folder becomes outputs of the run, before the work (io/atomic_file.h).
  void require_places() const;
  /// How many trials work at the same time, when so much of the host's memory may be used.
  [[nodiscard]] Choice<Index> choose_at_once(std::size_t host_bytes) const;
  /// Runs what has not run yet, so many at the same time; `tell` hears of every trial that ended its round, of one at a
  /// time.
  void run(Index at_once, const TrialSink& tell);
  /// The run file of one trial.
  [[nodiscard]] std::string run_file(std::size_t trial) const;

 private:
  void resume_from(const std::string& state);
  void keep_state() const;
  /// The trial as it stands after a round.
  [[nodiscard]] TrialRecord after_round(std::size_t which, std::size_t round, ProgressMeter& meter) const;
  void run_round(std::size_t round, const std::vector<std::size_t>& chosen, Index at_once, const TrialSink& tell);
  /// Iterations that a trial has before it in a round.
  [[nodiscard]] Index iterations_left(std::size_t which, std::size_t round) const;
  void fill(RunFile& run, const Trial& trial) const;
  /// Without pictures and report: tries are of no use to others, and their counts must be the same for all.
  void fill_quiet(RunFile& run, const Trial& trial) const;
  [[nodiscard]] std::string checkpoint(std::size_t trial) const;
  [[nodiscard]] std::string state_path() const;

  std::string folder_, base_text_, identity_;
  Index most_at_once_;  // asked for; 0: nothing
  Source source_;
  std::vector<Round> rounds_;
  std::vector<TrialRecord> trials_;
  std::vector<Index> iterations_;  // of the schedule of every trial
  JobPlan largest_;
  std::vector<std::string> warnings_;
  std::shared_ptr<const Counts> counts_;  // once they have been read
};

}  // namespace sonde::ptycho
