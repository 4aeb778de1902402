// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/verbs/iterate_job.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/run/iterate.h"
#include "sonde/instruments/ptycho/results/log.h"
#include "sonde/instruments/ptycho/results/picture.h"
#include "sonde/instruments/ptycho/results/result.h"

namespace sonde::ptycho {
namespace {

class Reconstructing final : public LongWork {
 public:
  Reconstructing(Job& job, RunFile& run_file, LiveRun* live, Run& run)
      : job_(job), run_file_(run_file), live_(live), run_(run) {
    if (run_file.output.log.empty() || run.silent()) return;
    log_.emplace(run_file.output.log);
    // Those before: of the start that was chosen, or of the run that goes on.
    log_->add(job.reconstruction().history(), job.changes());
  }

  Index done() const override { return static_cast<Index>(job_.reconstruction().history().size()); }
  bool over() const override { return job_.reconstruction().outcome().kind != Outcome::Kind::running; }
  void step() override { (void)job_.reconstruction().iterate(); }
  std::string line() const override {
    const IterationRecord& record = last();
    const std::string& engine = run_file_.tables().find("engine")->items[static_cast<std::size_t>(record.engine)].kind;
    std::string line = fmt::format("{:>5} {:<7} R_I {:.4f}  R_A {:.4f}", record.number, engine, record.fit.r_intensity,
                                   record.fit.r_amplitude);
    if (record.r_free) line += fmt::format("  R_free {:.4f}", *record.r_free);
    return line + fmt::format("  power x{:.3f}  {}", record.power_total, format_seconds(record.seconds));
  }

  void log() override {
    if (log_) log_->add(last());
  }
  void save() override {
    if (run_.silent()) return job_.help_save();
    CheckpointWriter writer(run_file_.output.checkpoint(), checkpoint_kind(), done(), run_file_.text());
    job_.save(writer);
    writer.finish();
  }
  /// The phase as it stands, in the place of the picture that the end writes.
  void preview() override {
    const Result now = job_.result(run_file_);  // of all processes together
    if (run_.silent()) return;
    write_picture(run_file_.output.picture("phase"), phase_image(now, now.field_of_view()), now.sampling, "rad", "",
                  picture_role());
  }
  bool attend() override {
    if (live_ == nullptr) return true;
    live_->update(job_.reconstruction());
    if (live_->stop_asked()) return false;
    if (!over()) meet_requests();
    return true;
  }

  bool any(bool said) const override { return share() != nullptr ? share()->any(said) : said; }
  void check() const override { share() != nullptr ? share()->check_interrupt() : check_interrupt(); }

 private:
  const IterationRecord& last() const { return job_.reconstruction().history().back(); }
  const Share* share() const { return job_.plan().share.get(); }

  /// What was asked for in the live view counts from the next iteration on, which is the first after a restart; what
  /// cannot be is said there.
  void meet_requests() {
    const std::vector<ChangeRequest> requests = live_->requests();
    if (requests.empty()) return;
    std::size_t told = job_.changes().size();
    for (const ChangeRequest& request : requests) {
      try {
        if (request.restart())
          job_.restart(run_file_);
        else
          job_.change(run_file_, request.setting, request.value);
      } catch (const Error& error) {
        const bool can_go_on = error.kind() == ErrorKind::usage || error.kind() == ErrorKind::bad_input ||
                               error.kind() == ErrorKind::not_supported;
        if (!can_go_on || !job_.works()) throw;
        live_->refuse(error);
      }
    }
    for (; told < job_.changes().size(); ++told) {
      const Change& change = job_.changes()[told];
      if (log_) log_->add(change);
      run_.say(fmt::format("changed   after iteration {}: {}", change.after, in_words(change)));
    }
    live_->tell_settings(run_file_, job_.changes());
  }

  Job& job_;
  RunFile& run_file_;
  LiveRun* live_;
  Run& run_;
  std::optional<MetricsLog> log_;
};

}  // namespace

void iterate_job(Job& job, RunFile& run_file, LiveRun* live, Run& run) {
  Pace pace{.stage = "reconstructing",
            .unit = "iterations",
            .preview_every = run_file.output.preview_every,
            .checkpoint_every = run_file.output.checkpoint_every,
            .checkpoint_minutes = run_file.output.checkpoint_minutes};
  for (const EngineRun& engine : run_file.schedule().engines) pace.total += engine.iterations;
  Reconstructing work(job, run_file, live, run);
  iterate(work, pace, run);
}

}  // namespace sonde::ptycho
