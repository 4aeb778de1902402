// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sonde/instruments/ptycho/quality/acquisition.h"
#include "sonde/instruments/ptycho/read/source.h"
#include "sonde/instruments/ptycho/reconstruct/reconstruction.h"
#include "sonde/instruments/ptycho/results/changes.h"
#include "sonde/instruments/ptycho/results/result.h"
#include "sonde/instruments/ptycho/run/assessment.h"
#include "sonde/instruments/ptycho/run/job_plan.h"
#include "sonde/instruments/ptycho/run/read_counts.h"
#include "sonde/instruments/ptycho/run/run_file.h"

namespace sonde::ptycho {

/// A reconstruction that is ready to iterate, with everything that its result needs.
class Job {
 public:
  /// `from`: the checkpoint to go on from, else the reconstruction begins. `counts`: those of the same [data], when
  /// they have been read already.
  Job(const RunFile& run, const Source& source, JobPlan plan, const CheckpointReader* from = nullptr,
      std::shared_ptr<const Counts> counts = nullptr);

  [[nodiscard]] Reconstruction& reconstruction() { return *reconstruction_; }
  [[nodiscard]] const Measurement& measurement() const { return *counts_->measurement; }
  [[nodiscard]] const JobPlan& plan() const { return plan_; }
  /// What was chosen and found, for people: the probe and why, the overlap, frames held out.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
  [[nodiscard]] const ScanAssessment& assessment() const { return assessment_; }
  /// R_I and NMSE of a perfect model, from counting noise only. 0 where values are no counts and nothing says how many
  /// counts they are (data.counts_per_unit).
  [[nodiscard]] double floor() const;
  [[nodiscard]] double nmse_floor() const;
  /// What the measurement offers, in counts where these are known.
  [[nodiscard]] Acquisition acquisition() const;
  /// What a user should know of a reconstruction that has come to its end, beside warnings(): how its fit compares with
  /// the counting noise and with frames that were held out. Empty before the end and for runs that were stopped.
  [[nodiscard]] std::vector<std::string> warnings_of_fit() const;
  /// A further reconstruction of the same counts from the same start, by another schedule or from another random
  /// object.
  [[nodiscard]] std::unique_ptr<Reconstruction> another(const RunFile& run, Schedule schedule,
                                                        std::optional<std::uint64_t> object_seed = std::nullopt) const;
  /// Goes on with such a one in place of the own; `object_seed`: that of its random object.
  void adopt(std::unique_ptr<Reconstruction> chosen, std::uint64_t object_seed) {
    reconstruction_ = std::move(chosen);
    object_seed_ = object_seed;
  }
  /// What the reconstruction was made with: frames that are left out and what constraints know included.
  [[nodiscard]] const Schedule& schedule() const { return schedule_; }
  /// Changes one of changeable_settings() of `run` from the next iteration on, and remembers it. `run` is the run file
  /// that this was made from: what it shares with the schedule. Throws what set_changeable() and
  /// Reconstruction::settings_changed() throw; then nothing has changed.
  void change(RunFile& run, const std::string& setting, const Value& value);
  /// Begins again from the start that it had, with the settings as they are now, and remembers it. What was reached is
  /// let go of first: the memory is for one. Throws Error(not_supported) when the start is not known, and what
  /// Reconstruction::prepare() throws; works() is false then.
  void restart(const RunFile& run);
  [[nodiscard]] bool works() const { return reconstruction_ != nullptr; }
  [[nodiscard]] bool has_estimate() const { return works() && !reconstruction_->history().empty(); }
  /// What was changed while it worked, in order; of a run that goes on, before the break too.
  [[nodiscard]] const std::vector<Change>& changes() const { return changes_; }
  /// All that Reconstruction::save() keeps, and the changes; help_save() as there.
  void save(CheckpointWriter& checkpoint);
  void help_save() { reconstruction_->help_save(); }
  /// Lets go of the reconstruction and its memory, once its result was taken.
  void close() { reconstruction_.reset(); }

  /// The present estimate as a result, with settings, provenance and timing. With several processes all must ask; the
  /// whole result is that of rank 0, the others get an empty one.
  [[nodiscard]] Result result(const RunFile& run) const;

 private:
  /// What a reconstruction by `schedule` begins with, and a sentence about it where there is something to tell.
  struct First {
    State state;
    std::string note;
  };
  /// The run file with all that was used, wherever it came from.
  [[nodiscard]] std::string settings_used(const RunFile& run) const;
  [[nodiscard]] First first_state(const RunFile& run, const Schedule& schedule, std::uint64_t object_seed) const;
  [[nodiscard]] std::unique_ptr<Reconstruction> prepared(const RunFile& run, First first, Schedule schedule) const;

  JobPlan plan_;
  std::shared_ptr<const Counts> counts_;
  std::unique_ptr<Reconstruction> reconstruction_;
  Schedule schedule_;
  std::vector<Change> changes_;
  std::uint64_t object_seed_ = 0;
  bool goes_on_ = false;  // from a checkpoint
  Array first_probe_;     // complex128
  std::vector<std::string> notes_, warnings_;
  ScanAssessment assessment_;
  std::vector<double> slice_thickness_a_;
  Value provenance_;
  Value known_ = Value::object();  // [geometry] as the data file says it, where settings do not
};

}  // namespace sonde::ptycho
