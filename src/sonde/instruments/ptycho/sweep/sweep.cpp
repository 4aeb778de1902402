// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <mutex>
#include <numeric>
#include <utility>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/run_files.h"
#include "sonde/engine/figure/chart.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/checkpoint.h"
#include "sonde/engine/options/toml.h"
#include "sonde/engine/report/json.h"
#include "sonde/instruments/ptycho/run/side_by_side.h"

namespace sonde::ptycho {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view schema = "sonde.ptycho.sweep/1";
const OutputRole state_role{.what = "the state of the sweep", .replaces = FileMark::json, .continues = true};

void take(const Value& value, TrialRecord& record) {
  record.outcome = text_at(value, "outcome");
  record.because = text_at(value, "because");
  record.rounds = static_cast<Index>(number_at(value, "rounds"));
  record.iterations = static_cast<Index>(number_at(value, "iterations"));
  record.r_intensity = number_at(value, "R_I");
  if (const Value* r_free = value.find("R_free"); r_free != nullptr && r_free->is_number())
    record.r_free = r_free->as_real();
  if (const Value* moment = value.find("run")) record.seconds = number_at(*moment, "seconds");
}

}  // namespace

Value to_value(const TrialRecord& record) {
  Value value;
  value["settings"] = Value::object();
  for (const auto& [setting, text] : record.trial.settings) value["settings"][setting] = text;
  value["outcome"] = record.outcome;
  value["because"] = record.because;
  value["rounds"] = record.rounds;
  value["iterations"] = record.iterations;
  value["R_I"] = record.iterations > 0 ? Value(record.r_intensity) : Value();
  value["R_free"] = record.r_free ? Value(*record.r_free) : Value();
  value["run"]["seconds"] = record.seconds;
  return value;
}

double TrialRecord::score() const {
  constexpr double none = std::numeric_limits<double>::infinity();
  if (outcome.empty() || outcome == "diverged" || outcome == "failed") return none;
  const double value = r_free.value_or(r_intensity);
  return std::isfinite(value) ? value : none;
}

std::vector<std::size_t> ranking(const std::vector<TrialRecord>& trials) {
  std::vector<std::size_t> order(trials.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const bool a_failed = std::isinf(trials[a].score()), b_failed = std::isinf(trials[b].score());
    if (a_failed != b_failed) return b_failed;
    if (trials[a].rounds != trials[b].rounds) return trials[a].rounds > trials[b].rounds;
    return trials[a].score() < trials[b].score();
  });
  return order;
}

Sweep::Sweep(const SweepFile& file, const RunFile& base, Source source)
    : folder_(file.sweep.output),
      base_text_(base.text()),
      most_at_once_(file.sweep.at_once),
      source_(std::move(source)) {
  for (Trial& trial : file.trials()) trials_.push_back({.trial = std::move(trial)});
  Index total = 0;
  Problems problems;
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    RunFile run;
    JobPlan plan;
    // The settings of one trial may be wrong in the same way as those of the one before: said once.
    if (!problems.collect([&] {
          fill_quiet(run, trials_[i].trial);
          plan = plan_job(run, source_);
        }))
      break;
    for (const std::string& warning : plan.warnings)
      if (std::find(warnings_.begin(), warnings_.end(), warning) == warnings_.end()) warnings_.push_back(warning);
    Index iterations = 0;
    for (const EngineRun& engine : run.schedule().engines) iterations += engine.iterations;
    iterations_.push_back(iterations);
    total = std::max(total, iterations);
    if (i == 0 || plan.memory.peak_bytes > largest_.memory.peak_bytes) largest_ = std::move(plan);
  }
  problems.throw_if_any("the settings of the sweep have several problems");
  rounds_ = file.rounds(total);
  // What a folder must be of to be gone on with: everything but where it is and how much of it works at the same time.
  Value settings = file.tables().echo();
  settings["sweep"]["run"] = "";
  settings["sweep"]["output"] = "";
  settings["sweep"]["at_once"] = 0;
  identity_ = to_toml(settings) + base_text_;
  if (path_exists(state_path())) resume_from(state_path());
}

Sweep::~Sweep() = default;

void Sweep::fill(RunFile& run, const Trial& trial) const {
  run.parse(base_text_, "the run file");
  take_from_file([&] {  // the sweep file names them
    for (const auto& [setting, value] : trial.settings) run.tables().assign_text(setting + "=" + value);
  });
}

void Sweep::fill_quiet(RunFile& run, const Trial& trial) const {
  fill(run, trial);
  run.output.pictures = run.output.report = false;
}

std::string Sweep::run_file(std::size_t trial) const {
  RunFile run;
  fill(run, trials_[trial].trial);
  return run.text();
}

std::string Sweep::checkpoint(std::size_t trial) const {
  return (fs::path(folder_) / fmt::format("trial_{:04}.ckpt.h5", trial + 1)).string();
}

std::string Sweep::state_path() const { return (fs::path(folder_) / "state.json").string(); }

void Sweep::require_places() const {
  if (!is_folder(folder_)) return;  // nothing is in the way
  require_place(state_path(), state_role);
  for (const char* name : {"sweep.csv", "best.toml"}) require_place((fs::path(folder_) / name).string());
  require_chart((fs::path(folder_) / "sweep").string());
  for (std::size_t i = 0; i < trials_.size(); ++i) require_place(checkpoint(i), checkpoint_role());
}

void Sweep::resume_from(const std::string& state) {
  note_continued(state);
  const Value stored = read_json(state);
  const Value* trials = stored.find("trials");
  if (text_at(stored, "schema") != schema || text_at(stored, "identity") != identity_ || trials == nullptr ||
      trials->size() != trials_.size())
    throw Error(ErrorKind::bad_input, fmt::format("{} is of another sweep", state))
        .hint("give another folder, or remove that one");
  for (std::size_t i = 0; i < trials_.size(); ++i) take(trials->items()[i], trials_[i]);
}

void Sweep::keep_state() const {
  Value state;
  state["schema"] = schema;
  state["identity"] = identity_;
  state["trials"] = Value::list();
  for (const TrialRecord& record : trials_) state["trials"].push_back(to_value(record));
  AtomicFile file(state_path(), state_role);
  file.write(to_json(state));
  file.commit();
}

Choice<Index> Sweep::choose_at_once(std::size_t host_bytes) const {
  const MemoryPlan& plan = largest_.memory;
  return ptycho::choose_at_once(
      static_cast<Index>(trials_.size()), largest_.sizes.threads, most_at_once_, host_bytes,
      [&](Index at_once) { return plan.with_head_room(plan.peak_bytes_of(static_cast<std::size_t>(at_once))); });
}

Index Sweep::iterations_left(std::size_t which, std::size_t round) const {
  return std::min(rounds_[round].until.value_or(iterations_[which]), iterations_[which]) - trials_[which].iterations;
}

TrialRecord Sweep::after_round(std::size_t which, std::size_t round, ProgressMeter& meter) const {
  TrialRecord record = trials_[which];
  const Stopwatch watch;
  Index left = iterations_left(which, round);
  try {
    RunFile run;
    fill_quiet(run, record.trial);
    std::optional<CheckpointReader> from;
    if (round > 0) from.emplace(checkpoint(which), checkpoint_kind());
    Job job(run, source_, plan_job(run, source_), from ? &*from : nullptr, counts_);
    Reconstruction& reconstruction = job.reconstruction();
    for (; reconstruction.outcome().kind == Outcome::Kind::running && left > 0; --left) {
      (void)reconstruction.iterate();
      meter.advance();
    }
    const IterationRecord& last = reconstruction.history().back();
    const Outcome& outcome = reconstruction.outcome();
    record.iterations = last.number;
    record.r_intensity = outcome.r_intensity;
    record.r_free = outcome.r_free;
    const bool goes_on = outcome.kind == Outcome::Kind::running;
    record.outcome = goes_on ? "goes on" : name(outcome.kind);
    record.because = outcome.because;
    if (goes_on) {
      CheckpointWriter writer(checkpoint(which), checkpoint_kind(), last.number, run.text());
      reconstruction.save(writer);
      writer.finish();
    }
  } catch (const Error& error) {
    // One trial that cannot be computed is a finding; a full disk or a person's Ctrl-C ends the sweep.
    const ErrorKind kind = error.kind();
    if (kind != ErrorKind::not_converged && kind != ErrorKind::bad_input && kind != ErrorKind::not_supported) throw;
    record.outcome = kind == ErrorKind::not_converged ? "diverged" : "failed";
    record.because = error.message();
  }
  meter.advance(left);
  record.rounds = static_cast<Index>(round) + 1;
  record.seconds += watch.seconds();
  return record;
}

void Sweep::run_round(std::size_t round, const std::vector<std::size_t>& chosen, Index at_once, const TrialSink& tell) {
  Index iterations = 0;
  for (const std::size_t which : chosen) iterations += iterations_left(which, round);
  ProgressMeter meter(rounds_.size() > 1 ? fmt::format("round {} of {}", round + 1, rounds_.size()) : "trying settings",
                      iterations, "iterations");
  std::mutex mutex;  // of the records
  side_by_side(static_cast<Index>(chosen.size()), at_once, [&](Index i) {
    const std::size_t which = chosen[static_cast<std::size_t>(i)];
    TrialRecord record = after_round(which, round, meter);
    const std::lock_guard lock(mutex);
    trials_[which] = std::move(record);
    keep_state();
    tell(which, trials_[which]);
  });
}

void Sweep::run(Index at_once, const TrialSink& tell) {
  make_folders(folder_);
  for (std::size_t round = 0; round < rounds_.size(); ++round) {
    const auto done = static_cast<Index>(round) + 1;
    // The best of the round before; those that ended early keep their place, and need no more iterations.
    std::vector<std::size_t> chosen = ranking(trials_);
    if (round == 0) std::sort(chosen.begin(), chosen.end());
    chosen.resize(std::min(chosen.size(), static_cast<std::size_t>(rounds_[round].trials)));
    for (std::size_t i = 0; i < trials_.size(); ++i)
      if (trials_[i].outcome == "goes on" && trials_[i].rounds == done - 1 &&
          std::find(chosen.begin(), chosen.end(), i) == chosen.end()) {
        trials_[i].outcome = "dropped";
        remove_path(checkpoint(i));
      }
    std::vector<std::size_t> to_run;
    for (const std::size_t which : chosen) {
      TrialRecord& record = trials_[which];
      if (record.rounds >= done || record.outcome == "dropped") continue;
      if (round > 0 && record.outcome != "goes on")
        record.rounds = done;
      else
        to_run.push_back(which);
    }
    if (to_run.empty()) continue;
    if (!counts_) {
      RunFile run;
      fill_quiet(run, trials_[to_run.front()].trial);
      counts_ = read_counts(run, source_, plan_job(run, source_));
    }
    run_round(round, to_run, at_once, tell);
  }
  for (std::size_t i = 0; i < trials_.size(); ++i) remove_path(checkpoint(i));
  keep_state();
}

}  // namespace sonde::ptycho
