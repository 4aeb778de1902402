// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/verbs/reconstruct.h"
#include "sonde/engine/run/join_ranks.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/run_files.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/fft_wisdom.h"
#include "sonde/engine/memory/tier.h"
#include "sonde/engine/ranks/ranks.h"
#include "sonde/instruments/ptycho/live/live_run.h"
#include "sonde/instruments/ptycho/model/metrics.h"
#include "sonde/instruments/ptycho/reconstruct/divergence_hint.h"
#include "sonde/instruments/ptycho/report/report.h"
#include "sonde/instruments/ptycho/results/picture.h"
#include "sonde/instruments/ptycho/results/result.h"
#include "sonde/instruments/ptycho/run/device_plan.h"
#include "sonde/instruments/ptycho/run/direct_job.h"
#include "sonde/instruments/ptycho/run/half_data.h"
#include "sonde/instruments/ptycho/run/job.h"
#include "sonde/instruments/ptycho/run/multi_start.h"
#include "sonde/instruments/ptycho/run/predicted_time.h"
#include "sonde/instruments/ptycho/verbs/iterate_job.h"
#include "sonde/instruments/ptycho/verbs/open_measurement.h"

namespace sonde::ptycho {
namespace {

namespace fs = std::filesystem;

/// Everything that several processes cannot do is an error before any of them works.
void require_ranks_can(const RunFile& run_file, bool live) {
  require_shareable(run_file.schedule());
  const auto refuse = [](bool asked, const std::string& what) {
    if (asked)
      throw Error(ErrorKind::not_supported, fmt::format("{} is not there for several processes", what))
          .hint("start one process");
  };
  refuse(live, setting("live"));
  refuse(run_file.multi_start.starts > 1, "[multi_start]");
  refuse(run_file.quality.half_data, "quality.half_data");
}

std::string sampling_text(const Sampling& sampling) {
  if (!sampling.calibrated()) return "lengths in object pixels";
  return fmt::format("wavelength {:.5g} A, object pixel {:.4g} x {:.4g} A", sampling.wavelength, sampling.pixel_row(),
                     sampling.pixel_col());
}

void say_plan(const Source& source, const JobPlan& plan, Run& run) {
  const RunSizes& sizes = plan.sizes;
  say_source(source, run);
  run.say(fmt::format("sampling  {}", sampling_text(plan.scan.sampling)));
  run.say(fmt::format("object    {} slice{} of {} x {} pixels, {}", sizes.slices, sizes.slices == 1 ? "" : "s",
                      sizes.object_rows, sizes.object_cols, sizes.potential ? "potential" : "complex"));
  if (sizes.processes > 1)
    run.say(fmt::format("processes {}, of which this one has {} patterns", sizes.processes, sizes.frames));
  run.say("storage   " + plan.storage_because);
  run.show_memory(plan.memory, run.host_budget());
}

/// What a GPU holds whose kernels compute.
MemoryPlan memory_there(const JobPlan& plan) { return plan_device_memory(plan.sizes, {plan.patterns, plan.groups}); }

/// The kernels of a GPU compute: where the patterns wait for them, and what it holds.
void use_kernels(Device device, const RunFile& run_file, JobPlan& plan, Run& run) {
  const Choice<DeviceRoom> room = choose_device_room(plan.sizes, run.budget());
  plan.kernels = device;
  plan.patterns = room.value.patterns;
  plan.groups = room.value.groups;
  run.report().add_choice("patterns", Value(plan.patterns == PatternTier::device ? "device" : "host"), room.because);
  if (!run_file.schedule().constraints.empty())
    run.report().add_choice("constraints", Value("cpu"), "they have no kernels; they act between iterations");
  run.show_memory(memory_there(plan), run.budget(), "memory of " + device.name());
}

void add_transform_plans(const ComputeSettings& compute, bool continued, Run& run) {
  const Choice<FftEffort> made = compute.transforms();
  if (continued)
    run.report().add_choice("transform plans", Value("as before"), "the checkpoint brings its own");
  else
    run.report().add_choice("transform plans", Value(made.value == FftEffort::quick ? "by rules" : "measured"),
                            made.because);
}

void show_dry_run(const RunFile& run_file, const Source& source, const JobPlan& plan, Run& run) {
  Report& report = run.report();
  report.add_choice("transforms", Value(fmt::format("{} x {}", plan.sizes.rows, plan.sizes.cols)),
                    fmt::format("the detector has {} x {} pixels", plan.scan.stored.rows, plan.scan.stored.cols));
  report.add_choice("storage", Value(std::string(plan.sizes.pattern_tier == Tier::host ? "memory" : "disk")),
                    plan.storage_because);
  if (const std::optional<Array> probe = probe_without_counts(run_file, source, plan)) {
    const ScanAssessment assessment = assess_scan(plan.scan, plan.spacing, *probe);
    report.add_choice("overlap", Value(assessment.overlap),
                      fmt::format("{}, probe {:.3g} px; the worst frame has {:.0f} %",
                                  step_text(plan.spacing, plan.scan), assessment.diameter, 100 * assessment.worst));
    for (const std::string& warning : overlap_warnings(assessment, plan.scan, plan.spacing)) log_warning(warning);
    report.add_choice("groups", Value(assessment.groups), "frames of one group do not overlap");
  } else {
    report.add_choice("overlap", Value(), "the first probe comes from the mean pattern, which has not been read");
  }
  report.add_choice("seconds per iteration", Value(predicted_seconds(plan.sizes)),
                    fmt::format("{:.0f} transforms on one thread and as much beside them, rough",
                                transforms_per_iteration(plan.sizes)));
  report.results()["settings"] = run_file.tables().echo();
}

/// A run that is written while it could go on was stopped.
std::string_view ending(Outcome::Kind kind) { return kind == Outcome::Kind::running ? "stopped" : name(kind); }

/// The error that ended an activity, when it leaves a state worth keeping; every other one is thrown.
std::optional<Error> ending_of(Job& job, const Error& error) {
  const bool keeps = error.kind() == ErrorKind::interrupted || error.kind() == ErrorKind::terminated ||
                     error.kind() == ErrorKind::not_converged;
  if (!keeps || !job.has_estimate()) throw Error(error);
  return error;
}

/// A run in the browser, as long as it lives.
struct LiveView {
  std::unique_ptr<LiveRun> live;
  std::unique_ptr<Shown> shown;

  LiveView(Job& job, const RunFile& file, Index port, Run& run) {
    LiveFacts facts{
        .title = file.output.file.empty() ? "reconstruction" : fs::path(file.output.file).filename().string(),
        .floor = job.floor(),
        .scan_step = job.plan().spacing.nearest,
        .sampling = job.plan().scan.sampling,
        .semiangle = job.plan().scan.semiangle.value_or(0),
        .acquisition = job.acquisition(),
        .settings = file.text()};
    for (const EngineRun& engine : job.schedule().engines) {
      facts.engines.push_back(engine.name);
      facts.iterations += engine.iterations;
    }
    live = std::make_unique<LiveRun>(std::move(facts));
    live->tell_settings(file, job.changes());
    shown = run.show(live->page(), port);
    run.announce("live      " + shown->url());
  }
};

/// [multi_start], shown to people. Gives back the error that ended it when there is a state worth keeping.
std::optional<Error> try_starts(Job& job, const RunFile& run_file, Run& run) {
  auto phase = run.report().phase("starts");
  try {
    for (const StartOutcome& outcome : choose_start(job, run_file)) {
      Value& item = run.results()["starts"].push_back(Value::object());
      item["score"] = outcome.score;
      item["iterations"] = outcome.iterations;
      item["chosen"] = outcome.chosen;
      run.say(fmt::format("start     {}: {:.5f} after {} iterations{}", outcome.start + 1, outcome.score,
                          outcome.iterations, outcome.chosen ? ", continues" : ""));
    }
  } catch (const Error& error) {
    return ending_of(job, error);
  }
  return std::nullopt;
}

/// Iterates to the end; an error that leaves a state worth keeping is given back instead of thrown.
std::optional<Error> iterate(Job& job, RunFile& run_file, LiveRun* live, Run& run) {
  try {
    iterate_job(job, run_file, live, run);
  } catch (const Error& error) {
    return ending_of(job, error);
  }
  return std::nullopt;
}

std::string reason(const Outcome& outcome, const std::optional<Error>& stopped) {
  if (stopped) return stopped->message();
  return outcome.kind == Outcome::Kind::running ? "asked to in the live view" : outcome.because;
}

void say_written(const std::string& file, Run& run) {
  run.say("wrote     " + file);
  run.results()["files"].push_back(file);
}

void write_pictures(const Result& result, const RunFile& run_file, Run& run) {
  const Box view = result.field_of_view();
  write_picture(run_file.output.picture("phase"), phase_image(result, view), result.sampling, "rad", "",
                picture_role());
  say_written(run_file.output.picture("phase"), run);
  write_picture(run_file.output.picture("amplitude"), amplitude_image(result, view), result.sampling, "", "",
                picture_role());
  say_written(run_file.output.picture("amplitude"), run);
}

/// How two halves of the data agree, added to the result. A half that diverges leaves the reason instead.
void add_half_data(const Job& job, const RunFile& run_file, const std::vector<Index>& frames, std::optional<Index> line,
                   Result& result, Run& run) {
  auto phase = run.report().phase("half data");
  Value& told = result.diagnostics["half_data"];
  if (!job.changes().empty()) {
    told["settings"] = "those of the end";
    run.say("note      the halves are reconstructed with the settings of the end throughout");
  }
  try {
    const RingCorrelation rings = half_data_correlation(job, run_file, frames, line);
    const Value numbers = rings.to_value();
    for (const auto& [key, value] : numbers.members()) told[key] = value;
    const std::optional<double> resolution = rings.resolution();
    const char* unit = result.sampling.calibrated() ? "A" : "px";
    run.results()["half_data_resolution"] = resolution ? Value(*resolution) : Value();
    run.say(resolution ? fmt::format("halves    agree down to {:.3g} {} (Fourier ring correlation, half-bit)",
                                     *resolution, unit)
                       : "halves    agree down to the finest detail that was measured");
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::not_converged) throw;
    told["because"] = error.message();
    log_warning(error.message());
  }
}

/// What people look at, beside the result file.
void write_beside(const Result& result, const RunFile& run_file, Run& run) {
  auto phase = run.report().phase("write");
  say_written(run_file.output.file, run);
  if (run_file.output.pictures) write_pictures(result, run_file, run);
  if (!run_file.output.report) return;
  write_report(run_file.output.report_page(), result, findings_of(result),
               fs::path(run_file.output.file).filename().string());
  say_written(run_file.output.report_page(), run);
}

/// The result file and what lies beside it.
void write_results(Job& job, const RunFile& run_file, const Source& source, const std::optional<Error>& stopped,
                   Run& run) {
  const Outcome outcome = job.reconstruction().outcome();
  Result result = job.result(run_file);
  if (run.silent()) return;  // the result is that of the first process
  result.diagnostics["outcome"] = ending(outcome.kind);
  result.diagnostics["because"] = reason(outcome, stopped);
  const std::string& file = run_file.output.file;
  if (!file.empty()) write_result(file, result);  // before everything that may still be interrupted
  const bool over = outcome.kind == Outcome::Kind::finished || outcome.kind == Outcome::Kind::converged;
  const std::vector<Index> frames = job.reconstruction().active();
  job.close();  // its memory is for what looks at the result
  if (run_file.quality.half_data && !stopped && over) {
    add_half_data(job, run_file, frames, source.scan_shape ? std::optional(source.scan_shape->cols) : std::nullopt,
                  result, run);
    if (!file.empty()) write_result(file, result);
  }
  if (!file.empty()) write_beside(result, run_file, run);
  if (run.gives_arrays()) run.give(contents_of(result));
}

void tell_outcome(Job& job, const std::optional<Error>& stopped, Run& run) {
  const Reconstruction& reconstruction = job.reconstruction();
  const IterationRecord& last = reconstruction.history().back();
  const Outcome& outcome = reconstruction.outcome();
  Value& results = run.results();
  results["outcome"] = ending(outcome.kind);
  results["because"] = reason(outcome, stopped);
  results["iterations"] = last.number;
  results["best_iteration"] = outcome.best;
  results["R_I_floor"] = job.floor() > 0 ? Value(job.floor()) : Value();
  results["NMSE_floor"] = job.floor() > 0 ? Value(job.nmse_floor()) : Value();
  const Value metrics = metrics_value(last);
  for (const auto& [key, value] : metrics.members())
    (key == "seconds" ? results["run"]["metrics"] : results["metrics"])[key] = value;
  // Of the estimate that is written, which may be an earlier one than the last.
  results["R_I"] = outcome.r_intensity;
  results["R_free"] = outcome.r_free ? Value(*outcome.r_free) : Value();
  results["overlap"] = job.assessment().overlap;
  std::vector<std::string> warnings = job.warnings();
  for (std::string& warning : job.warnings_of_fit()) warnings.push_back(std::move(warning));
  results["warnings"] = warnings;
  if (!job.changes().empty()) results["changes"] = to_value(job.changes());
  run.say(fmt::format("{}: {}; R_I {:.4f}, {}{}", ending(outcome.kind), results.find("because")->as_text(),
                      outcome.r_intensity,
                      job.floor() > 0 ? fmt::format("{:.2f} times the floor of {:.4f} that counting noise sets",
                                                    outcome.r_intensity / job.floor(), job.floor())
                                      : "its floor is not known",
                      outcome.r_free ? fmt::format("; R_free {:.4f}", *outcome.r_free) : ""));
  const bool over = outcome.kind == Outcome::Kind::finished || outcome.kind == Outcome::Kind::converged;
  if (!over || run.silent()) return;
  for (const std::string& warning : job.warnings_of_fit()) log_warning(warning);
}

}  // namespace

void reconstruct(RunFile& run_file, const CheckpointReader* from, Run& run) {
  const std::string why_not_on_gpu = why_no_kernels(run_file.schedule());
  // The default name, also where a run file repeats it.
  if (!run.given("output") && fs::path(run_file.output.file).filename() == OutputSettings{}.file) note_made_up_names();
  run_file.output.require_places();
  const Ranks ranks = Ranks::world();
  if (ranks.rank() != 0) run.be_silent();
  run.share_machine(ranks.on_this_machine());
  const Device device =
      run.device_for(ranks.size() > 1 ? "several processes share a scan only on the CPU" : why_not_on_gpu);
  if (ranks.size() > 1) require_ranks_can(run_file, run.live_port().has_value());
  Source source = open_measurement(run_file.data, run);
  TierBudgets budgets = TierBudgets::around(Device::cpu(), run.host_budget(), run_file.compute.scratch);
  share_disk(budgets, ranks);
  const Resources resources{.budgets = budgets, .ranks = ranks, .kernels = !device.is_cpu()};
  const bool begins = from == nullptr && run_file.output.file.empty() && direct_start(run_file) && !run.dry_run();
  JobPlan plan = begins ? begin_directly(run_file, source, resources) : plan_job(run_file, source, resources);
  say_plan(source, plan, run);
  if (!device.is_cpu()) use_kernels(device, run_file, plan, run);
  add_transform_plans(run_file.compute, from != nullptr, run);
  // Before memory is asked for: a position far away makes an object that no memory holds.
  if (!run.silent())
    for (const std::string& warning : plan.warnings) log_warning(warning);
  const std::size_t told = plan.warnings.size();
  if (run.dry_run()) show_dry_run(run_file, source, plan, run);
  require_memory(plan.memory, plan.sizes, budgets);
  if (run.dry_run()) return;
  const Reservation reserved = run.host_budget().reserve(plan.memory.peak_bytes, "reconstruction");
  Reservation reserved_there;
  if (plan.kernels) reserved_there = run.budget().reserve(memory_there(plan).peak_bytes, "reconstruction");

  auto phase = run.report().phase("prepare");
  // Plans that are measured anew may round differently: with those of before a run repeats bit for bit on its machine.
  // A checkpoint brings its own, which are not for others.
  const bool measured = from == nullptr && run_file.compute.transforms().value == FftEffort::measured;
  if (measured) load_fft_wisdom();
  Job job(run_file, source, std::move(plan), from);
  source.read_patterns = {};  // an open scan need not stay
  source.read_frames = {};
  source.find_good = {};
  if (measured && !run.silent()) save_fft_wisdom();
  phase.end();
  for (const std::string& note : job.notes()) run.say("note      " + note);
  if (!run.silent())
    for (std::size_t i = told; i < job.warnings().size(); ++i) log_warning(job.warnings()[i]);
  run.say(job.floor() > 0 ? fmt::format("floor     R_I {:.4f}, NMSE {:.3g} for a perfect model of these counts",
                                        job.floor(), job.nmse_floor())
                          : std::string("floor     not known: the values are not counts"));

  if (const auto& at_once = job.plan().starts_at_once; at_once && from == nullptr)
    run.report().add_choice("starts at once", Value(at_once->value), at_once->because);
  run.keep_results_of_failure();
  std::optional<Error> stopped = from == nullptr ? try_starts(job, run_file, run) : std::nullopt;
  const std::optional<LiveView> live =
      run.live_port() ? std::optional<LiveView>(std::in_place, job, run_file, *run.live_port(), run) : std::nullopt;
  if (!stopped) stopped = iterate(job, run_file, live ? live->live.get() : nullptr, run);
  tell_outcome(job, stopped, run);
  const Outcome outcome = job.reconstruction().outcome();
  write_results(job, run_file, source, stopped, run);
  if (stopped) throw Error(*stopped);
  if (outcome.kind == Outcome::Kind::diverged)
    throw Error(
        ErrorKind::not_converged,
        fmt::format("the reconstruction diverged: {}; the estimate with the lowest R_I, that of iteration {}, is kept",
                    outcome.because, outcome.best))
        .hint(std::string(divergence_hint));
  if (outcome.kind == Outcome::Kind::finished && run_file.stop.require)
    throw Error(ErrorKind::not_converged, "all iterations are done, but the reconstruction has not converged")
        .hint("give more iterations, or leave stop.require out");
}

}  // namespace sonde::ptycho
