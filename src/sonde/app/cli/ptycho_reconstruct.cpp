// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/cli/ptycho_reconstruct.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "sonde/app/cli/ptycho_source.h"
#include "sonde/app/serve/server.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/fft_wisdom.h"
#include "sonde/engine/memory/tier.h"
#include "sonde/engine/ranks/ranks.h"
#include "sonde/engine/report/progress.h"
#include "sonde/instruments/ptycho/live/live_run.h"
#include "sonde/instruments/ptycho/model/metrics.h"
#include "sonde/instruments/ptycho/reconstruct/divergence_hint.h"
#include "sonde/instruments/ptycho/report/report.h"
#include "sonde/instruments/ptycho/results/log.h"
#include "sonde/instruments/ptycho/results/picture.h"
#include "sonde/instruments/ptycho/results/result.h"
#include "sonde/instruments/ptycho/run/device_plan.h"
#include "sonde/instruments/ptycho/run/half_data.h"
#include "sonde/instruments/ptycho/run/job.h"
#include "sonde/instruments/ptycho/run/multi_start.h"
#include "sonde/instruments/ptycho/run/predicted_time.h"

namespace sonde::cli {
namespace {

namespace fs = std::filesystem;
using ptycho::Outcome;

/// Everything that several processes cannot do is an error before any of them works.
void require_ranks_can(const ptycho::RunFile& run, bool live) {
  require_shareable(run.schedule());
  const auto refuse = [](bool asked, const char* what) {
    if (asked)
      throw Error(ErrorKind::not_supported, fmt::format("{} is not there for several processes", what))
          .hint("start one process");
  };
  refuse(live, "--live");
  refuse(run.multi_start.starts > 1, "[multi_start]");
  refuse(run.quality.half_data, "quality.half_data");
}

std::string sampling_text(const ptycho::Sampling& sampling) {
  if (!sampling.calibrated()) return "lengths in object pixels";
  return fmt::format("wavelength {:.5g} A, object pixel {:.4g} x {:.4g} A", sampling.wavelength, sampling.pixel_row(),
                     sampling.pixel_col());
}

void say_plan(const ptycho::Source& source, const ptycho::JobPlan& plan, const Context& context) {
  const ptycho::RunSizes& sizes = plan.sizes;
  say_source(source, context);
  context.say(fmt::format("sampling  {}", sampling_text(plan.scan.sampling)));
  context.say(fmt::format("object    {} slice{} of {} x {} pixels, {}", sizes.slices, sizes.slices == 1 ? "" : "s",
                          sizes.object_rows, sizes.object_cols, sizes.potential ? "potential" : "complex"));
  if (sizes.processes > 1)
    context.say(fmt::format("processes {}, of which this one has {} patterns", sizes.processes, sizes.frames));
  context.say("storage   " + plan.storage_because);
  context.say("memory\n" + plan.memory.text());
}

/// What a GPU holds whose kernels compute.
ptycho::MemoryPlan memory_there(const ptycho::JobPlan& plan) {
  return plan_device_memory(plan.sizes, {plan.patterns, plan.groups});
}

/// The kernels of a GPU compute: where the patterns wait for them, and what it holds.
void use_kernels(Device device, const ptycho::RunFile& run, ptycho::JobPlan& plan, Context& context) {
  const Choice<ptycho::DeviceRoom> room = choose_device_room(plan.sizes, context.budget());
  plan.kernels = device;
  plan.patterns = room.value.patterns;
  plan.groups = room.value.groups;
  context.report().add_choice("patterns", Value(plan.patterns == ptycho::PatternTier::device ? "device" : "host"),
                              room.because);
  if (!run.schedule().constraints.empty())
    context.report().add_choice("constraints", Value("cpu"), "they have no kernels; they act between iterations");
  context.say(fmt::format("memory of {}\n{}", device.name(), memory_there(plan).text()));
}

void show_dry_run(const ptycho::RunFile& run, const ptycho::Source& source, const ptycho::JobPlan& plan,
                  Context& context) {
  Report& report = context.report();
  report.add_choice("transforms", Value(fmt::format("{} x {}", plan.sizes.rows, plan.sizes.cols)),
                    fmt::format("the detector has {} x {} pixels", plan.scan.stored.rows, plan.scan.stored.cols));
  report.add_choice("storage", Value(std::string(plan.sizes.pattern_tier == Tier::host ? "memory" : "disk")),
                    plan.storage_because);
  report.add_choice("memory", Value(plan.memory.peak_bytes),
                    fmt::format("{} of {} that may be used, a tenth of head-room beside",
                                format_bytes(static_cast<double>(plan.memory.peak_bytes)),
                                format_bytes(static_cast<double>(context.host_budget().available_bytes()))));
  if (const std::optional<Array> probe = probe_without_counts(run, source, plan)) {
    const ptycho::ScanJudgement judgement = judge_scan(plan.scan, plan.spacing, *probe);
    report.add_choice("overlap", Value(judgement.overlap),
                      fmt::format("{}, probe {:.3g} px; the worst frame has {:.0f} %",
                                  step_text(plan.spacing, plan.scan), judgement.diameter, 100 * judgement.worst));
    for (const std::string& warning : overlap_warnings(judgement, plan.scan, plan.spacing)) log_warning(warning);
    report.add_choice("groups", Value(judgement.groups), "frames of one group do not overlap");
  } else {
    report.add_choice("overlap", Value(), "the first probe comes from the mean pattern, which has not been read");
  }
  report.add_choice("seconds per iteration", Value(predicted_seconds(plan.sizes)),
                    fmt::format("{:.0f} transforms on one thread and as much beside them, rough",
                                transforms_per_iteration(plan.sizes)));
  report.results()["settings"] = run.tables().echo();
}

/// A run that is written while it could go on was stopped.
std::string_view ending(Outcome::Kind kind) { return kind == Outcome::Kind::running ? "stopped" : name(kind); }

std::string iteration_line(const ptycho::RunFile& run, const ptycho::IterationRecord& record) {
  const std::string& engine = run.tables().find("engine")->items[static_cast<std::size_t>(record.engine)].kind;
  std::string line = fmt::format("{:>5} {:<7} R_I {:.4f}  R_A {:.4f}", record.number, engine, record.fit.r_intensity,
                                 record.fit.r_amplitude);
  if (record.r_free) line += fmt::format("  R_free {:.4f}", *record.r_free);
  return line + fmt::format("  power x{:.3f}  {}", record.power_total, format_seconds(record.seconds));
}

/// A run in the browser, as long as it lives.
struct LiveView {
  std::unique_ptr<ptycho::LiveRun> run;
  std::unique_ptr<serve::Server> server;

  LiveView(ptycho::Job& job, const ptycho::RunFile& file, Index port, const Context& context) {
    ptycho::LiveFacts facts{
        .title = fs::path(file.output.file).filename().string(),
        .floor = job.floor(),
        .scan_step = job.plan().spacing.nearest,
        .sampling = job.plan().scan.sampling,
        .semiangle = job.plan().scan.semiangle.value_or(0),
        .acquisition = acquisition_of(job.reconstruction().state(), job.measurement(), job.plan().scan.sampling),
        .settings = file.text()};
    for (const ptycho::EngineRun& engine : job.schedule().engines) {
      facts.engines.push_back(engine.name);
      facts.iterations += engine.iterations;
    }
    run = std::make_unique<ptycho::LiveRun>(std::move(facts));
    run->tell_settings(file, job.changes());
    server = std::make_unique<serve::Server>(run->page(), serve::ServeOptions{.port = port});
    server->start();
    context.say("live      " + server->url());
  }
};

/// The error that ended an activity, when it leaves a state worth keeping; every other one is thrown.
std::optional<Error> ending_of(ptycho::Job& job, const Error& error) {
  const bool keeps = error.kind() == ErrorKind::interrupted || error.kind() == ErrorKind::terminated ||
                     error.kind() == ErrorKind::not_converged;
  if (!keeps || !job.has_estimate()) throw Error(error);
  return error;
}

/// [multi_start], told to people. Gives back the error that ended it when there is a state worth keeping.
std::optional<Error> try_starts(ptycho::Job& job, const ptycho::RunFile& run, Context& context) {
  auto phase = context.report().phase("starts");
  try {
    for (const ptycho::StartOutcome& outcome : choose_start(job, run)) {
      Value& item = context.results()["starts"].push_back(Value::object());
      item["score"] = outcome.score;
      item["iterations"] = outcome.iterations;
      item["chosen"] = outcome.chosen;
      context.say(fmt::format("start     {}: {:.5f} after {} iterations{}", outcome.start + 1, outcome.score,
                              outcome.iterations, outcome.chosen ? ", goes on" : ""));
    }
  } catch (const Error& error) {
    return ending_of(job, error);
  }
  return std::nullopt;
}

/// The checkpoints of a run, when they are due.
class Checkpoints {
 public:
  explicit Checkpoints(const ptycho::RunFile& run) : run_(&run), timer_(60 * run.output.checkpoint_minutes) {}

  /// After an iteration. A request to stop that has waited for the checkpoint ends a run that is not over.
  void write_if_due(ptycho::Job& job, Context& context) {
    const ptycho::Reconstruction& reconstruction = job.reconstruction();
    const ptycho::OutputSettings& output = run_->output;
    const auto number = static_cast<Index>(reconstruction.history().size());
    const bool by_count = output.checkpoint_every > 0 && number % output.checkpoint_every == 0;
    if (!output.wants_checkpoints()) return;
    // Several processes write together, when the clock or a request to stop of any of them says so.
    const ptycho::Share* share = job.plan().share.get();
    const bool due = by_count || timer_.due();
    if (!(share != nullptr ? share->any(due) : due)) return;
    auto writing = context.report().phase("checkpoint");
    if (context.silent()) {
      job.help_save();
    } else {
      CheckpointWriter writer(output.checkpoint(), ptycho::checkpoint_kind(), number, run_->text());
      job.save(writer);
      writer.finish();
    }
    timer_.restart();
    if (reconstruction.outcome().kind != Outcome::Kind::running) return;
    share != nullptr ? share->check_interrupt() : check_interrupt();
  }
  /// An iteration, with SIGTERM waiting for its end where a checkpoint is to follow.
  const ptycho::IterationRecord& iterate(ptycho::Reconstruction& reconstruction) const {
    // Batch systems give half a minute; the checkpoint and the result want some of it.
    constexpr double most_s = 15;
    std::optional<TerminationWaits> waits;
    if (run_->output.wants_checkpoints()) waits.emplace(most_s);
    return reconstruction.iterate();
  }

 private:
  const ptycho::RunFile* run_;
  CheckpointTimer timer_;
};

/// What was asked for in the live view counts from the next iteration on, which is the first after a restart; what
/// cannot be is said there.
void meet_wishes(ptycho::Job& job, ptycho::RunFile& run, ptycho::LiveRun& live, std::optional<ptycho::MetricsLog>& log,
                 const Context& context) {
  const std::vector<ptycho::Wish> wishes = live.wishes();
  if (wishes.empty()) return;
  std::size_t told = job.changes().size();
  for (const ptycho::Wish& wish : wishes) {
    try {
      if (wish.restart())
        job.restart(run);
      else
        job.change(run, wish.setting, wish.value);
    } catch (const Error& error) {
      const bool can_go_on = error.kind() == ErrorKind::usage || error.kind() == ErrorKind::bad_input ||
                             error.kind() == ErrorKind::not_supported;
      if (!can_go_on || !job.works()) throw;
      live.refuse(error);
    }
  }
  for (; told < job.changes().size(); ++told) {
    const ptycho::Change& change = job.changes()[told];
    if (log) log->add(change);
    context.say(fmt::format("changed   after iteration {}: {}", change.after, in_words(change)));
  }
  live.tell_settings(run, job.changes());
}

/// The phase as it stands, in the place of the picture that the end writes.
void write_preview_if_due(ptycho::Job& job, const ptycho::RunFile& run, Context& context) {
  const Index every = run.output.preview_every;
  if (every == 0 || static_cast<Index>(job.reconstruction().history().size()) % every != 0) return;
  auto phase = context.report().phase("preview");
  const ptycho::Result now = job.result(run);  // of all processes together
  if (context.silent()) return;
  write_picture(run.output.picture("phase"), phase_image(now, now.field_of_view()), now.sampling, "rad");
}

/// Iterates to the end; an error that leaves a state worth keeping is given back instead of thrown.
std::optional<Error> iterate(ptycho::Job& job, ptycho::RunFile& run, ptycho::LiveRun* live, Context& context) {
  std::optional<ptycho::MetricsLog> log;
  if (!run.output.log.empty() && !context.silent()) log.emplace(run.output.log);
  // Those before: of the start that was chosen, or of the run that goes on.
  if (log) log->add(job.reconstruction().history(), job.changes());
  Index total = 0;
  for (const ptycho::EngineRun& engine : run.schedule().engines) total += engine.iterations;
  std::optional<ProgressMeter> meter;
  Checkpoints checkpoints(run);
  try {
    while (job.reconstruction().outcome().kind == Outcome::Kind::running) {
      ptycho::Reconstruction& reconstruction = job.reconstruction();
      if (!meter || reconstruction.history().empty()) meter.emplace("reconstructing", total, "iterations");
      auto phase = context.report().phase("iterate");
      const ptycho::IterationRecord& record = checkpoints.iterate(reconstruction);
      phase.end();
      meter->advance();
      if (log) log->add(record);
      checkpoints.write_if_due(job, context);
      write_preview_if_due(job, run, context);
      if (record.number == 1 || record.number % 10 == 0 || reconstruction.outcome().kind != Outcome::Kind::running)
        context.say(iteration_line(run, record));
      if (live == nullptr) continue;
      live->update(reconstruction);
      if (live->stop_asked()) break;
      if (reconstruction.outcome().kind == Outcome::Kind::running) meet_wishes(job, run, *live, log, context);
    }
  } catch (const Error& error) {
    return ending_of(job, error);
  }
  return std::nullopt;
}

std::string reason(const Outcome& outcome, const std::optional<Error>& stopped) {
  if (stopped) return stopped->message();
  return outcome.kind == Outcome::Kind::running ? "asked to in the live view" : outcome.because;
}

void say_written(const std::string& file, Context& context) {
  context.say("wrote     " + file);
  context.results()["files"].push_back(file);
}

void write_pictures(const ptycho::Result& result, const ptycho::RunFile& run, Context& context) {
  const ptycho::Box view = result.field_of_view();
  write_picture(run.output.picture("phase"), phase_image(result, view), result.sampling, "rad");
  say_written(run.output.picture("phase"), context);
  write_picture(run.output.picture("amplitude"), amplitude_image(result, view), result.sampling, "");
  say_written(run.output.picture("amplitude"), context);
}

/// How two halves of the data agree, added to the result. A half that diverges leaves the reason instead.
void add_half_data(const ptycho::Job& job, const ptycho::RunFile& run, const std::vector<Index>& frames,
                   std::optional<Index> line, ptycho::Result& result, Context& context) {
  auto phase = context.report().phase("half data");
  Value& told = result.diagnostics["half_data"];
  if (!job.changes().empty()) {
    told["settings"] = "those of the end";
    context.say("note      the halves are reconstructed with the settings of the end throughout");
  }
  try {
    const ptycho::RingCorrelation rings = half_data_correlation(job, run, frames, line);
    const Value numbers = rings.to_value();
    for (const auto& [key, value] : numbers.members()) told[key] = value;
    const std::optional<double> resolution = rings.resolution();
    const char* unit = result.sampling.calibrated() ? "A" : "px";
    context.results()["half_data_resolution"] = resolution ? Value(*resolution) : Value();
    context.say(resolution ? fmt::format("halves    agree down to {:.3g} {} (Fourier ring correlation, half-bit)",
                                         *resolution, unit)
                           : "halves    agree down to the finest detail that was measured");
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::not_converged) throw;
    told["because"] = error.message();
    log_warning(error.message());
  }
}

/// What people look at, beside the result file.
void write_beside(const ptycho::Result& result, const ptycho::RunFile& run, Context& context) {
  auto phase = context.report().phase("write");
  say_written(run.output.file, context);
  if (run.output.pictures) write_pictures(result, run, context);
  if (!run.output.report) return;
  write_report(run.output.report_page(), result, findings_of(result), fs::path(run.output.file).filename().string());
  say_written(run.output.report_page(), context);
}

/// The result file and what lies beside it.
void write_results(ptycho::Job& job, const ptycho::RunFile& run, const ptycho::Source& source,
                   const std::optional<Error>& stopped, Context& context) {
  const Outcome outcome = job.reconstruction().outcome();
  ptycho::Result result = job.result(run);
  if (context.silent()) return;  // the result is that of the first process
  result.diagnostics["outcome"] = ending(outcome.kind);
  result.diagnostics["because"] = reason(outcome, stopped);
  result.diagnostics["best_iteration"] = outcome.best;
  write_result(run.output.file, result);  // before everything that may still be interrupted
  const bool over = outcome.kind == Outcome::Kind::finished || outcome.kind == Outcome::Kind::converged;
  const std::vector<Index> frames = job.reconstruction().active();
  job.close();  // its memory is for what looks at the result
  if (run.quality.half_data && !stopped && over) {
    add_half_data(job, run, frames, source.scan_shape ? std::optional(source.scan_shape->cols) : std::nullopt, result,
                  context);
    write_result(run.output.file, result);
  }
  write_beside(result, run, context);
}

void tell_outcome(ptycho::Job& job, const std::optional<Error>& stopped, Context& context) {
  const ptycho::Reconstruction& reconstruction = job.reconstruction();
  const ptycho::IterationRecord& last = reconstruction.history().back();
  const Outcome& outcome = reconstruction.outcome();
  Value& results = context.results();
  results["outcome"] = ending(outcome.kind);
  results["because"] = reason(outcome, stopped);
  results["iterations"] = last.number;
  results["best_iteration"] = outcome.best;
  results["R_I_floor"] = job.floor();
  results["NMSE_floor"] = nmse_floor(reconstruction.counts());
  results["metrics"] = metrics_value(last);
  // Of the estimate that is written, which may be an earlier one than the last.
  results["R_I"] = outcome.r_intensity;
  results["R_free"] = outcome.r_free ? Value(*outcome.r_free) : Value();
  results["overlap"] = job.judgement().overlap;
  results["warnings"] = job.warnings();
  if (!job.changes().empty()) results["changes"] = to_value(job.changes());
  context.say(fmt::format("{}: {}; R_I {:.4f}, {:.2f} times the floor of {:.4f} that counting noise sets{}",
                          ending(outcome.kind), results.find("because")->as_text(), outcome.r_intensity,
                          outcome.r_intensity / job.floor(), job.floor(),
                          outcome.r_free ? fmt::format("; R_free {:.4f}", *outcome.r_free) : ""));
  const bool over = outcome.kind == Outcome::Kind::finished || outcome.kind == Outcome::Kind::converged;
  if (!over || context.silent()) return;
  // Marks of specification 6.2 and 6.4; what is fitted below the noise is the noise.
  constexpr double poor = 3;
  const double ratio = last.fit.r_intensity / job.floor();
  if (ratio > poor)
    log_warning(
        fmt::format("R_I is {:.3g} times its floor: more iterations are needed, or step, energy, angles, defocus "
                    "or orientation (`sonde ptycho orient`) are wrong",
                    ratio));
  if (ratio < ptycho::over_fitted_ratio)
    log_warning(
        fmt::format("R_I is {:.3g} times its floor: noise is fitted, because the overlap is too small or too much "
                    "is free",
                    ratio));
  // Frames that nothing was fitted to stand for what lies between the others. Where positions are corrected theirs are
  // not, and R_free is larger for that alone.
  constexpr double unlike = 2;
  if (outcome.r_free && !last.positions && *outcome.r_free > unlike * outcome.r_intensity &&
      *outcome.r_free > poor * job.floor())
    log_warning(
        fmt::format("R_free is {:.3g} times R_I: frames that were held out are not explained, so what lies between the "
                    "positions is not known; check the scan step and the overlap ({:.0f} %)",
                    *outcome.r_free / outcome.r_intensity, 100 * job.judgement().overlap));
}

}  // namespace

void require_output(const std::string& path, const ptycho::RunFile& run) {
  require_place(path);
  std::error_code failed;
  if (fs::equivalent(path, run.data.file, failed))
    throw Error(ErrorKind::bad_input, fmt::format("{} would replace the measurement", path)).hint("give another -o");
}

void require_outputs(const ptycho::RunFile& run) {
  require_output(run.output.file, run);
  if (!run.output.log.empty()) require_output(run.output.log, run);
}

void describe_live(Fields& fields, std::optional<Index>& live) {
  fields.add("live", live,
             {.help = "show the run in the browser while it works, on this port of this machine; 0 takes a free one",
              .min = 0,
              .max = 65535,
              .metavar = "PORT"});
}

void reconstruct(ptycho::RunFile& run, const CheckpointReader* from, std::optional<Index> live_port, Context& context) {
  const std::string why_not_on_gpu = why_no_kernels(run.schedule());
  require_outputs(run);
  const Ranks ranks = Ranks::world();
  if (ranks.rank() != 0) context.be_silent();
  const int processes_here = ranks.on_this_machine();
  context.share_machine(processes_here);
  const Device device =
      context.device_for(ranks.size() > 1 ? "several processes share a scan on the CPU alone" : why_not_on_gpu);
  if (ranks.size() > 1) require_ranks_can(run, live_port.has_value());
  ptycho::Source source = open_measurement(run.data, context);
  TierBudgets budgets = TierBudgets::around(Device::cpu(), context.host_budget(), run.compute.scratch);
  if (processes_here > 1)
    budgets.disk = Budget(budgets.disk.limit_bytes() / static_cast<std::size_t>(processes_here),
                          fmt::format("{}, divided by {} processes", budgets.disk.because(), processes_here));
  ptycho::JobPlan plan = plan_job(run, source, {.budgets = budgets, .ranks = ranks, .kernels = !device.is_cpu()});
  say_plan(source, plan, context);
  if (!device.is_cpu()) use_kernels(device, run, plan, context);
  // Before memory is asked for: a position far away makes an object that no memory holds.
  if (!context.silent())
    for (const std::string& warning : plan.warnings) log_warning(warning);
  const std::size_t told = plan.warnings.size();
  if (context.dry_run()) show_dry_run(run, source, plan, context);
  require_memory(plan.memory, plan.sizes, budgets);
  if (context.dry_run()) return;
  const Reservation reserved = context.host_budget().reserve(plan.memory.peak_bytes, "reconstruction");
  Reservation reserved_there;
  if (plan.kernels) reserved_there = context.budget().reserve(memory_there(plan).peak_bytes, "reconstruction");

  auto phase = context.report().phase("prepare");
  // Plans that are measured anew may round differently: with those of before a run repeats bit for bit on its machine.
  // A checkpoint brings its own, which are not for others.
  const bool measured = from == nullptr && !run.compute.deterministic;
  if (measured) load_fft_wisdom();
  ptycho::Job job(run, source, std::move(plan), from);
  source.read_patterns = {};  // an open scan need not stay
  source.read_frames = {};
  source.find_good = {};
  if (measured && !context.silent()) save_fft_wisdom();
  phase.end();
  for (const std::string& note : job.notes()) context.say("note      " + note);
  if (!context.silent())
    for (std::size_t i = told; i < job.warnings().size(); ++i) log_warning(job.warnings()[i]);
  context.say(fmt::format("floor     R_I {:.4f}, NMSE {:.3g} for a perfect model of these counts", job.floor(),
                          nmse_floor(job.reconstruction().counts())));

  if (const auto& at_once = job.plan().starts_at_once; at_once && from == nullptr)
    context.report().add_choice("starts at once", Value(at_once->value), at_once->because);
  context.print_results_of_failure();
  std::optional<Error> stopped = from == nullptr ? try_starts(job, run, context) : std::nullopt;
  const std::optional<LiveView> live =
      live_port ? std::optional<LiveView>(std::in_place, job, run, *live_port, context) : std::nullopt;
  if (!stopped) stopped = iterate(job, run, live ? live->run.get() : nullptr, context);
  tell_outcome(job, stopped, context);
  const Outcome outcome = job.reconstruction().outcome();
  write_results(job, run, source, stopped, context);
  if (stopped) throw Error(*stopped);
  if (outcome.kind == Outcome::Kind::diverged)
    throw Error(
        ErrorKind::not_converged,
        fmt::format(
            "the reconstruction diverged: {}; the estimate with the lowest R_I, that of iteration {}, was written",
            outcome.because, outcome.best))
        .hint(std::string(ptycho::divergence_hint));
  if (outcome.kind == Outcome::Kind::finished && run.stop.require)
    throw Error(ErrorKind::not_converged, "all iterations are done, but the reconstruction has not converged")
        .hint("give more iterations, or leave stop.require out");
}

}  // namespace sonde::cli
