// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/run_files.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/figure/chart.h"
#include "sonde/engine/figure/chart_svg.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/fft_wisdom.h"
#include "sonde/instruments/ptycho/sweep/sweep.h"
#include "sonde/instruments/ptycho/verbs/direct_start.h"
#include "sonde/instruments/ptycho/verbs/open_measurement.h"
#include "sonde/instruments/ptycho/verbs/verbs.h"

namespace sonde::ptycho {
namespace {

namespace fs = std::filesystem;

struct SweepOptions {
  std::string input, output;
  std::vector<std::string> set;
  void describe(Fields& fields) {
    fields.positional("input", input, {.help = "sweep file (.toml)"});
    fields.add("output", output, {.help = "the folder; in place of sweep.output", .metavar = "DIR", .letter = 'o'});
    fields.add(
        "set", set,
        {.help = "one setting of the run file, for instance engine.0.iterations=50", .metavar = "TABLE.KEY=VALUE"});
  }
};

std::string line_of(const TrialRecord& record) {
  if (std::isinf(record.score()))
    return fmt::format("{:<10} {:>9}  {:>5}  {}  ({})", record.outcome, "", record.iterations, record.trial.text(),
                       record.because);
  return fmt::format("{:<10} {:>9.5f}  {:>5}  {}", record.outcome, record.score(), record.iterations,
                     record.trial.text());
}

Value numbered(const TrialRecord& record, std::size_t number) {
  Value value = to_value(record);
  value["trial"] = number + 1;
  return value;
}

void write_text(const fs::path& path, const std::string& text, Run& run) {
  AtomicFile file(path.string());
  file.write(text);
  file.commit();
  run.results()["files"].push_back(path.string());
  run.say("wrote     " + path.string());
}

/// rank, trial, every setting, outcome, iterations, R_I, R_free: one line each, the best first.
std::string table_of(const Sweep& sweep, const std::vector<std::size_t>& order) {
  std::string text = "rank,trial";
  for (const auto& [setting, value] : sweep.trials().front().trial.settings) text += "," + setting;
  text += ",outcome,iterations,R_I,R_free,seconds\n";
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const TrialRecord& record = sweep.trials()[order[rank]];
    text += fmt::format("{},{}", rank + 1, order[rank] + 1);
    for (const auto& [setting, value] : record.trial.settings)
      text += value.find(',') == std::string::npos ? "," + value : ",\"" + value + "\"";
    text += fmt::format(",{},{},{},{},{:.3g}\n", record.outcome, record.iterations, record.r_intensity,
                        record.r_free ? fmt::format("{}", *record.r_free) : "", record.seconds);
  }
  return text;
}

/// Words stand under their places, and a few whole numbers at themselves: there is nothing between 1 and 2 modes.
std::vector<Tick> ticks_of(std::vector<double> values, const std::vector<std::string>& words) {
  std::vector<Tick> ticks;
  for (std::size_t i = 0; i < words.size(); ++i) ticks.push_back({static_cast<double>(i), words[i]});
  if (!words.empty()) return ticks;
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  constexpr std::size_t most = 10;  // that can be read beside each other
  const auto whole = [](double value) { return std::round(value) == value; };
  if (values.size() > most || !std::all_of(values.begin(), values.end(), whole))
    values = axis_marks(values.front(), values.back() > values.front() ? values.back() : values.front() + 1, false, 6);
  for (const double value : values) ticks.push_back({value, fmt::format("{:g}", value)});
  return ticks;
}

/// The score over every setting, one curve of points for each round that trials ended in. Words stand in their order.
Chart chart_of(const Sweep& sweep, std::size_t best) {
  Chart chart;
  const std::vector<TrialRecord>& trials = sweep.trials();
  for (std::size_t s = 0; s < trials.front().trial.settings.size(); ++s) {
    std::vector<std::string> words;
    const auto place = [&](const std::string& text) {
      char* end = nullptr;
      const double number = std::strtod(text.c_str(), &end);
      if (end == text.c_str() + text.size()) return number;
      const auto found = std::find(words.begin(), words.end(), text);
      if (found == words.end()) words.push_back(text);
      return static_cast<double>(std::find(words.begin(), words.end(), text) - words.begin());
    };
    Facet facet{.x = {.title = trials.front().trial.settings[s].first},
                .y = {.title = trials[best].r_free ? "R_free" : "R_I"}};
    for (std::size_t round = 1; round <= sweep.rounds().size(); ++round) {
      Series series;
      series.mark = Mark::points;
      for (const TrialRecord& record : trials) {
        if (record.rounds != static_cast<Index>(round) || std::isinf(record.score())) continue;
        series.x.push_back(place(record.trial.settings[s].second));
        series.y.push_back(record.score());
      }
      const std::optional<Index> until = sweep.rounds()[round - 1].until;
      series.name = sweep.rounds().size() == 1 ? "trials" : until ? fmt::format("{} iterations", *until) : "to the end";
      if (!series.x.empty()) facet.series.push_back(std::move(series));
    }
    facet.series.push_back({.name = "best",
                            .x = {place(trials[best].trial.settings[s].second)},
                            .y = {trials[best].score()},
                            .mark = Mark::points});
    // Points at the ends keep away from the frame.
    std::vector<double> all;
    for (const Series& series : facet.series) all.insert(all.end(), series.x.begin(), series.x.end());
    const auto [least, most] = std::minmax_element(all.begin(), all.end());
    const double air = *most > *least ? 0.06 * (*most - *least) : 0.5;
    facet.x.low = *least - air;
    facet.x.high = *most + air;
    facet.x.ticks = ticks_of(all, words);
    chart.facets.push_back(std::move(facet));
  }
  chart.one_legend = true;
  return chart;
}

/// What those see who watch: the score of every trial so far, and their ranking.
class LiveTrials {
 public:
  explicit LiveTrials(const Sweep& sweep) : trials_(sweep.trials()) {}

  static std::vector<panel::Panel> panels() {
    return {{.id = "scores", .type = "curves", .title = "Figure of merit by trial"},
            {.id = "trials", .type = "table", .title = "Trials, the best first"}};
  }
  /// A trial of the sweep, which ended its round.
  void take(std::size_t trial, const TrialRecord& record) {
    const std::lock_guard lock(mutex_);
    trials_[trial] = record;
  }
  Value options() {
    const std::lock_guard lock(mutex_);
    Value panels;
    panels["scores"] = scores();
    panels["trials"] = table();
    return panels;
  }

 private:
  static bool has_score(const TrialRecord& record) { return record.rounds > 0 && std::isfinite(record.score()); }

  Value scores() const {
    const bool free = std::any_of(trials_.begin(), trials_.end(),
                                  [](const TrialRecord& record) { return record.r_free.has_value(); });
    Value value;
    value["x"]["name"] = "trial";
    value["x"]["first"] = 1;
    value["x"]["last"] = trials_.size();
    value["y"]["unit"] = free ? "R_free" : "R_I";
    value["places"] = Value::list();
    value["curves"] = Value::list();
    Value& curve = value["curves"].push_back(Value::object());
    curve["name"] = "of its last round";
    curve["y"] = Value::list();
    for (std::size_t i = 0; i < trials_.size(); ++i) {
      value["places"].push_back(i + 1);
      curve["y"].push_back(has_score(trials_[i]) ? Value(trials_[i].score()) : Value());
    }
    return value;
  }
  Value table() const {
    constexpr std::size_t most = 50;
    Value value;
    value["columns"] = std::vector<std::string>{"trial", "settings", "outcome", "iterations", "R_I", "R_free"};
    value["rows"] = Value::list();
    for (const std::size_t i : ranking(trials_)) {
      const TrialRecord& record = trials_[i];
      if (record.rounds == 0 || value["rows"].items().size() == most) continue;
      Value& row = value["rows"].push_back(Value::list());
      row.push_back(i + 1);
      row.push_back(record.trial.text());
      row.push_back(record.outcome);
      row.push_back(record.iterations);
      row.push_back(has_score(record) ? Value(fmt::format("{:.5f}", record.r_intensity)) : Value());
      row.push_back(record.r_free ? Value(fmt::format("{:.5f}", *record.r_free)) : Value());
    }
    return value;
  }

  std::mutex mutex_;
  std::vector<TrialRecord> trials_;
};

void show_plan(const Sweep& sweep, Run& run) {
  Report& report = run.report();
  report.add_choice("trials", Value(sweep.trials().size()), "see results");
  for (const Round& round : sweep.rounds())
    report.add_choice("round", Value(round.trials),
                      round.until ? fmt::format("trials to iteration {}", *round.until) : "trials to their end");
  for (std::size_t i = 0; i < sweep.trials().size(); ++i)
    report.results()["trials"].push_back(numbered(sweep.trials()[i], i));
}

void write_outcome(const Sweep& sweep, const std::string& folder, Run& run) {
  const std::vector<std::size_t> order = ranking(sweep.trials());
  run.say("\nranked by R_free (R_I where no frame is held out)\noutcome       score  iterations  settings");
  for (const std::size_t i : order) run.say(line_of(sweep.trials()[i]));
  for (const std::size_t i : order) run.results()["trials"].push_back(numbered(sweep.trials()[i], i));
  write_text(fs::path(folder) / "sweep.csv", table_of(sweep, order), run);
  if (std::isinf(sweep.trials()[order.front()].score()))
    throw Error(ErrorKind::not_converged, "no trial of the sweep came to an end")
        .hint("shorten the steps, or look at the reasons in sweep.csv");
  write_text(fs::path(folder) / "best.toml", "# sonde: the best settings of a sweep\n" + sweep.run_file(order.front()),
             run);
  for (const std::string& picture :
       write_chart((fs::path(folder) / "sweep").string(), chart_of(sweep, order.front())).pictures) {
    run.results()["files"].push_back(picture);
    run.say("wrote     " + picture);
  }
}

void run_sweep(const SweepOptions& options, Run& run) {
  SweepFile file;
  file.read(options.input);
  run.require_named_output(file.tables().is_set("sweep.output"));
  if (!options.output.empty()) file.sweep.output = options.output;
  if (file.sweep.run.empty())
    throw Error(ErrorKind::bad_input, "the sweep file names no run file").hint("run = \"recon.toml\" in [sweep]");
  RunFile base;
  base.read(file.sweep.run);
  Problems problems;
  for (const std::string& setting : options.set) problems.collect([&] { base.tables().assign_text(setting); });
  problems.throw_if_any("the command line has several problems");
  (void)run.device_for("trials are computed on the CPU");
  begin_directly(base, run);  // once for all trials
  Source source = open_measurement(base.data, run);
  // Frames that only judge are what trials are ranked by.
  constexpr Index enough_frames = 64;
  constexpr double held_out = 0.03;  // and 16 at least
  if (!base.data.holdout && source.shape[0] >= enough_frames) base.data.holdout = held_out;

  note_made_up_names();  // only the folder was named
  Sweep sweep(file, base, std::move(source));
  sweep.require_places();
  const JobPlan& largest = sweep.largest();
  run.say(fmt::format("sweep     {} trials of {}", sweep.trials().size(), file.sweep.run));
  // Of many trials the first few tell what all have in common.
  constexpr std::size_t told = 5;
  for (std::size_t i = 0; i < std::min(told, sweep.warnings().size()); ++i) log_warning(sweep.warnings()[i]);
  if (sweep.warnings().size() > told)
    log_warning(fmt::format("{} more of the same kind, of other trials", sweep.warnings().size() - told));
  run.show_memory(largest.memory, run.host_budget(), "memory of the largest");
  require_memory(largest.memory, largest.sizes, run.host_budget());
  const Choice<Index> at_once = sweep.choose_at_once(run.host_budget().available_bytes());
  run.report().add_choice("trials at once", Value(at_once.value), at_once.because);
  run.say(fmt::format("at once   {} of {} trials: {}", at_once.value, sweep.trials().size(), at_once.because));
  if (run.dry_run()) return show_plan(sweep, run);
  const Reservation reserved =
      run.host_budget().reserve(largest.memory.peak_bytes_of(static_cast<std::size_t>(at_once.value)), "trials");
  const bool measured = base.compute.transforms().value == FftEffort::measured;
  if (measured) load_fft_wisdom();
  LiveTrials live(sweep);
  const auto shown = run.live([&] { return LiveState{.panels = live.options()}; });
  sweep.run(at_once.value, [&](std::size_t trial, const TrialRecord& record) {
    run.say(line_of(record));
    live.take(trial, record);
  });
  if (measured) save_fft_wisdom();
  write_outcome(sweep, file.sweep.output, run);
}

}  // namespace

Verb sweep_verb() {
  return {
      .name = "ptycho sweep",
      .summary = "Reconstruct with many settings and rank them",
      .details =
          "A sweep file (TOML) names a run file and the settings that are varied: all combinations of a grid, or as "
          "many as wanted at random. Trials are ranked by R_free, the error of frames that took no part. With "
          "successive halving all trials get a few iterations and only the best continue. As many trials as there are "
          "threads (" +
          setting("threads") +
          ") and as the memory holds work side by side, from counts that are read once; how many "
          "does not change what they find.\n\n"
          "[sweep]\nrun = \"recon.toml\"\nhalving = true\n[[vary]]\nname = \"range\"\nsetting = "
          "\"probe.defocus_A\"\nlow = 100\nhigh = 200\nsteps = 9\n[[vary]]\nname = \"values\"\nsetting = "
          "\"probe.modes\"\nvalues = [1, 3]\n\n"
          "The folder gets the table (sweep.csv), a figure, the run file of the best trial (best.toml) and how "
          "everything is (state.json): the same command continues a sweep that was interrupted.",
      .examples = {{"sonde ptycho sweep sweep.toml -o defocus", "All trials, and what was found, in one folder"},
                   {"sonde ptycho sweep sweep.toml --dry-run", "Which trials there are and what they need"},
                   {"sonde ptycho run defocus/best.toml -o best.h5", "The best settings as a run of their own"}},
      .plans = true,
      .watched = Watched{.panels = LiveTrials::panels()},
      .invoke = invocation<SweepOptions, run_sweep>};
}

}  // namespace sonde::ptycho
