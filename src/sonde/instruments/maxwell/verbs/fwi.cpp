// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/run_files.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/checkpoint.h"
#include "sonde/engine/io/png.h"
#include "sonde/engine/options/toml.h"
#include "sonde/engine/ranks/agree.h"
#include "sonde/engine/ranks/hand_out.h"
#include "sonde/engine/report/provenance.h"
#include "sonde/engine/run/iterate.h"
#include "sonde/engine/run/write_charts.h"
#include "sonde/instruments/maxwell/invert/inversion.h"
#include "sonde/instruments/maxwell/results/inversion_page.h"
#include "sonde/instruments/maxwell/results/inversion_result.h"
#include "sonde/instruments/maxwell/results/live_inversion.h"
#include "sonde/instruments/maxwell/run/experiment_run.h"
#include "sonde/instruments/maxwell/run/inversion_inputs.h"
#include "sonde/instruments/maxwell/run/native_run.h"
#include "sonde/instruments/maxwell/verbs/demonstrate.h"
#include "sonde/instruments/maxwell/verbs/run_parts.h"
#include "sonde/instruments/maxwell/verbs/verbs.h"

namespace sonde::maxwell {
namespace {

namespace fs = std::filesystem;

struct FwiOptions : ModelOptions {
  std::string output;
  bool resume = false;
  void describe(Fields& fields) {
    fields.positional("input", input, {.help = "run file (.toml)", .metavar = "RUN.toml", .optional = true});
    fields.add("output", output,
               {.help = "folder of what is made; in place of output.folder; unset: RUN_fwi beside the run file",
                .metavar = "DIR",
                .letter = 'o'});
    fields.add("set", set,
               {.help = "one setting of the run file, for instance inversion.stage.0.iterations=5",
                .metavar = "TABLE.KEY=VALUE"});
    fields.add("resume", resume, {.help = "continue from the checkpoint in the folder", .flag_only = true});
    fields.add("force", force, {.help = "invert on cells that are too large for the highest frequency"});
  }
};

CheckpointKind checkpoint_kind() { return {.name = "maxwell fwi"}; }

/// Files of an inversion in their folder; none where a caller takes arrays and names no folder.
struct Places {
  std::string folder;
  [[nodiscard]] bool any() const { return !folder.empty(); }
  [[nodiscard]] std::string of(const char* name) const { return (fs::path(folder) / name).string(); }
  [[nodiscard]] std::string checkpoint() const { return of("checkpoint.h5"); }
};

Places places_of(const FwiOptions& options, const RunFile& file, const Run& run) {
  std::string folder = options.output.empty() ? file.output.folder : options.output;
  if (folder.empty() && !run.gives_arrays() && !options.input.empty()) {
    const fs::path input(options.input);
    folder = (input.parent_path() / (input.stem().string() + "_fwi")).string();
  }
  return {folder};
}

/// What decides an inversion: everything but where and how often files are written and fields are kept. Inputs count by
/// their content, so that all files may move.
std::string deciding_settings(const RunFile& file) {
  const Value all = file.echo_by_content();
  Value made = Value::object();
  for (const auto& [name, table] : all.members())
    if (name != "output" && name != "storage") made[name] = table;
  return to_toml(made);
}

void require_same_settings(const CheckpointReader& checkpoint, const std::string& now) {
  const std::string before = checkpoint.options();
  if (before == now) return;
  const std::vector<std::string> old_lines = split(before, '\n'), new_lines = split(now, '\n');
  std::size_t i = 0;
  while (i < old_lines.size() && i < new_lines.size() && old_lines[i] == new_lines[i]) ++i;
  const auto line = [i](const std::vector<std::string>& lines) {
    return i < lines.size() && !lines[i].empty() ? lines[i] : std::string("nothing");
  };
  throw Error(ErrorKind::bad_input, fmt::format("{}: was made with other settings: {}; now {}", checkpoint.path(),
                                                line(old_lines), line(new_lines)))
      .hint("restore the settings, or leave out " + setting("resume"));
}

/// All that an inversion begins with.
struct Prepared {
  RunFile file;
  std::string deciding;  ///< deciding_settings()
  Places places;
  Experiment experiment;
  ObservedData observed;
  std::optional<Model> truth;
  InversionSettings settings;
  ParameterSettings unknowns;
};

void read_inputs(const FwiOptions& options, Run& run, Prepared& made) {
  RunFile& file = made.file;
  if (!is_native(options.input))
    throw Error(ErrorKind::usage, options.input + ": an inversion takes a run file (.toml)")
        .hint("`sonde maxwell init` writes one");
  read_settings(options, run, file);
  made.places = places_of(options, file, run);
  if (file.data.file.empty())
    throw Error(ErrorKind::bad_input, "no data.file: expected records, as `sonde maxwell run` writes them");
  made.observed = read_data(file, run);
  made.experiment = experiment_of(options, file, run);
  made.deciding = deciding_settings(file);
  made.settings = file.inversion.settings();
  made.unknowns = file.inversion.parameters(made.experiment.grid.mode, made.experiment.dominant_frequency);
  if (!file.data.true_model.empty()) {
    run.require_room_for(file.data.true_model);
    made.truth = read_true_model(file.data.true_model, made.experiment.grid);
  }
}

constexpr std::array<const char*, 5> result_files{"report.html", "model.png", "gather.png", "history.csv", "result.h5"};
constexpr std::array<const char*, 2> result_charts{"misfit.png", "spectrum.png"};

void prepare_places(const Prepared& prepared, const Run& run) {
  if (!prepared.places.any() || run.silent()) return;
  note_made_up_names();  // only the folder was named
  make_folders(prepared.places.folder);
  for (const char* name : result_files) require_place(prepared.places.of(name));
  for (const char* name : result_charts) require_chart(prepared.places.of(name));
  require_place(prepared.places.checkpoint(), checkpoint_role());
}

/// Beside the waves: records measured and filtered, models that are kept, and what the optimiser remembers.
void add_memory(const Prepared& prepared, const Parameters& parameters, MemoryPlan& memory) {
  const std::size_t samples = prepared.observed.samples.size(), unknowns = static_cast<std::size_t>(parameters.count());
  const std::size_t cells = prepared.experiment.model.eps_r.size(), stages = prepared.settings.stages.size();
  const bool newton = prepared.settings.optimiser == OptimiserKind::gauss_newton;
  // Pairs of steps and gradients; without them the vectors of conjugate gradients.
  const std::size_t more = newton ? 4 : 2 * static_cast<std::size_t>(prepared.settings.memory);
  std::size_t bytes = memory.add("records", 5 * sizeof(double) * samples, "measured, filtered, computed, weights");
  bytes += memory.add(
      "optimiser", sizeof(double) * unknowns * (more + 8),
      newton ? fmt::format("{} unknowns", unknowns) : fmt::format("{} unknowns, {} pairs", unknowns, more / 2));
  bytes += memory.add("models", sizeof(double) * cells * (2 * stages + 12), fmt::format("{} cells, float64", cells));
  if (const Index rank = prepared.settings.uncertainty.rank; rank > 0)
    bytes += memory.add("uncertainty", 4 * sizeof(double) * unknowns * static_cast<std::size_t>(rank + 10),
                        fmt::format("{} directions", rank + 10));
  memory.lasting_bytes += bytes;
  memory.peak_bytes += bytes;
}

/// The waves, with what is planned for them said.
std::unique_ptr<ExperimentWaves> make_waves(const FwiOptions& options, const Prepared& prepared,
                                            const Parameters& parameters, const Ranks& ranks,
                                            const TierBudgets& budgets, Run& run,
                                            std::array<Reservation, 2>& reserved) {
  WaveSettings settings = wave_settings(prepared.file, prepared.unknowns, prepared.experiment);
  settings.ranks = ranks;
  settings.device = run.device();
  auto waves = std::make_unique<ExperimentWaves>(prepared.experiment, settings, budgets);
  RunPlan plan = plan_run(waves->waves(), highest_frequency(prepared.experiment));
  plan.warnings = place_warnings(prepared.experiment, waves->waves().problem().grid);
  plan.memory = waves->memory();
  plan.device_memory = waves->device_memory();
  add_memory(prepared, parameters, plan.memory);
  run.report().add_choice("shots at the same time", waves->in_flight());
  run.report().add_choice("storage", Value(text_of(waves->storage())), waves->storage().because);
  run.report().add_choice(
      "unknowns", Value(parameters.count()),
      fmt::format("{}{}{}", prepared.unknowns.eps_r ? "eps_r" : "", parameters.classes() == 2 ? " and " : "",
                  prepared.unknowns.sigma ? "sigma" : ""));
  run.say(fmt::format("storage   {}: {}", text_of(waves->storage()), waves->storage().because));
  report_plan(
      plan, planned(prepared.experiment, options, waves->waves().problem().grid.count(), waves->waves().inner_steps()),
      options.force, run);
  // Stores of fields reserve their own bytes when they are made.
  const std::size_t stores = waves->store_bytes();
  reserved = {run.host_budget().reserve(plan.memory.peak_bytes - std::min(stores, plan.memory.peak_bytes),
                                        "the inversion", smaller_model()),
              reserve_on_device(plan, options.named(), run, waves->storage().device_bytes)};
  return waves;
}

void put_kept(CheckpointWriter& writer, const std::vector<KeptModel>& kept) {
  if (kept.empty()) return;
  std::vector<std::int64_t> places;
  std::vector<double> values;
  for (const KeptModel& each : kept) {
    places.insert(places.end(), {each.stage, each.iteration});
    values.insert(values.end(), each.eps_r.begin(), each.eps_r.end());
    values.insert(values.end(), each.sigma.begin(), each.sigma.end());
  }
  const auto count = static_cast<Index>(kept.size());
  writer.array("kept_places", Array::from(places, Shape{count, 2}));
  writer.array("kept", Array::from(values, Shape{count, static_cast<Index>(values.size()) / count}));
}

std::vector<KeptModel> get_kept(const CheckpointReader& checkpoint, std::size_t cells) {
  std::vector<KeptModel> made;
  if (!checkpoint.has("kept")) return made;
  const Shape shape = checkpoint.array("kept_places").shape();
  const Index count = shape.rank() == 2 ? shape[0] : 0;
  const Array places = checkpoint.array("kept_places", DType::i64, Shape{count, 2});
  const Array values = checkpoint.array("kept", DType::f64, Shape{count, 2 * static_cast<Index>(cells)});
  const auto* place = static_cast<const std::int64_t*>(places.data());
  const auto* value = static_cast<const double*>(values.data());
  for (Index i = 0; i < count; ++i, place += 2, value += 2 * cells)
    made.push_back({place[0], place[1], {value, value + cells}, {value + cells, value + 2 * cells}});
  return made;
}

class Inverting final : public LongWork {
 public:
  Inverting(Inversion& inversion, const Prepared& prepared, const CheckpointReader* from, const Ranks& ranks, Run& run)
      : inversion_(inversion),
        prepared_(prepared),
        ranks_(ranks),
        writes_(prepared.places.any() && !run.silent()),
        live_(prepared.experiment.grid, prepared.unknowns),
        shown_(run.silent() ? nullptr : run.live([this] { return live_.state(); })) {
    if (from == nullptr) return;
    inversion_.restore(*from);
    kept_ = get_kept(*from, prepared_.experiment.model.eps_r.size());
  }

  [[nodiscard]] Index done() const override { return static_cast<Index>(inversion_.history().size()); }
  [[nodiscard]] bool over() const override { return inversion_.finished(); }
  void step() override {
    const std::size_t ended = inversion_.ends().size();
    (void)inversion_.step([&](const Inversion::Progress& progress) { gradient_ = progress.gradient; });
    const InversionRow& row = last();
    const Index every = prepared_.file.output.every;
    if (inversion_.ends().size() == ended && (every == 0 || row.iteration == 0 || row.iteration % every != 0)) return;
    const Model model = inversion_.model();
    kept_.push_back({row.stage, row.iteration, model.eps_r, model.sigma});
  }
  [[nodiscard]] std::string line() const override {
    const InversionRow& row = last();
    std::string line =
        fmt::format("stage {} iteration {:>3}  objective {:.4g}", row.stage + 1, row.iteration, row.objective);
    if (std::isfinite(row.chi2)) line += fmt::format("  chi^2 {:.4g}", row.chi2);
    line += fmt::format("  {} evaluations, {}", row.evaluations, format_seconds(row.seconds));
    if (!inversion_.ends().empty() && inversion_.ends().back().stage == row.stage)
      line += fmt::format("; {}", text_of(inversion_.ends().back().reason));
    return line;
  }
  void log() override {
    if (!writes_) return;
    AtomicFile file(prepared_.places.of("history.csv"));
    file.write(history_csv(inversion_.history(), "sonde maxwell fwi"));
    file.commit();
  }
  void save() override {
    if (!writes_) return;
    CheckpointWriter writer(prepared_.places.checkpoint(), checkpoint_kind(), done(), prepared_.deciding);
    inversion_.save(writer);
    put_kept(writer, kept_);
    writer.finish();
  }

  bool attend() override {
    if (shown_) live_.take(inversion_);
    return true;
  }

  [[nodiscard]] bool any(bool said) const override { return any_of(ranks_, said); }
  void check() const override {
    stopped_together_ = true;
    check_interrupt(ranks_);
    stopped_together_ = false;
  }
  /// Whether all processes have thrown the same, so that one of them may speak.
  [[nodiscard]] bool stopped_together() const { return stopped_together_; }

  [[nodiscard]] const std::vector<KeptModel>& kept() const { return kept_; }
  [[nodiscard]] const ModelChange& gradient() const { return gradient_; }

 private:
  [[nodiscard]] const InversionRow& last() const { return inversion_.history().back(); }

  Inversion& inversion_;
  const Prepared& prepared_;
  Ranks ranks_;
  bool writes_;  ///< one process does for all
  mutable bool stopped_together_ = false;
  std::vector<KeptModel> kept_;
  ModelChange gradient_;
  LiveInversion live_;
  std::shared_ptr<void> shown_;  // after what it shows
};

Pace pace_of(const Prepared& prepared) {
  const OutputTable& output = prepared.file.output;
  Pace pace{.stage = "inverting", .unit = "iterations", .say_every = 1};
  for (const InversionStage& stage : prepared.settings.stages) pace.total += stage.iterations + 1;
  if (!prepared.places.any()) return pace;
  pace.checkpoint_every = output.checkpoint_every;
  pace.checkpoint_minutes = output.checkpoint_minutes;
  return pace;
}

/// The records of the last model, with the sources as they are estimated.
ObservedData predicted_by(const Inversion& inversion, const Prepared& prepared, ExperimentWaves& waves) {
  ObservedData made = empty_data(prepared.experiment);
  std::vector<ShotSignals> shots;
  for (std::size_t s = 0; s < made.shots.size(); ++s)
    shots.push_back({static_cast<Index>(s), inversion.amplitudes()[s]});
  const std::size_t count = made.shots.size(), receivers = static_cast<std::size_t>(made.receivers());
  waves.record(inversion.model(), shots, [&](Index shot, const Gather& computed) {
    for (std::size_t r = 0; r < receivers; ++r) {
      const std::span<const double> trace = computed.trace(static_cast<Index>(r));
      for (std::size_t n = 0; n < trace.size(); ++n)
        made.samples[(n * count + static_cast<std::size_t>(shot)) * receivers + r] = trace[n];
    }
  });
  return made;
}

InversionResult result_of(Inversion& inversion, const Inverting& work, const Prepared& prepared,
                          ExperimentWaves& waves) {
  InversionResult made{.title = prepared.experiment.title,
                       .grid = prepared.experiment.grid,
                       .origin = prepared.experiment.origin,
                       .start = prepared.experiment.model,
                       .model = inversion.model(),
                       .truth = prepared.truth,
                       .eps_r = prepared.unknowns.eps_r,
                       .sigma = prepared.unknowns.sigma,
                       .kept = work.kept(),
                       .gradient = work.gradient(),
                       .stages = prepared.settings.stages,
                       .history = inversion.history(),
                       .ends = inversion.ends(),
                       .observed = prepared.observed,
                       .predicted = predicted_by(inversion, prepared, waves),
                       .sources = inversion.amplitudes(),
                       .run_file = prepared.file.text()};
  for (const SurveyShot& shot : prepared.experiment.shots) made.given_sources.push_back(shot.amplitudes);
  if (prepared.settings.uncertainty.rank > 0 && !inversion.failed()) made.uncertainty = inversion.uncertainty();
  made.prior = prepared.settings.uncertainty.prior;
  return made;
}

void report_outcome(const InversionResult& result, Run& run) {
  Value& results = run.results();
  results["title"] = result.title;
  results["history"] = history_value(result.history);
  results["evaluations"] = result.history.back().evaluations;
  results["run"]["seconds"] = result.history.back().seconds;
  results["stages"] = Value::list();
  for (const StageEnd& end : result.ends) {
    double objective = 0, chi2 = 0;
    Index iterations = 0;
    for (const InversionRow& row : result.history)
      if (row.stage == end.stage) objective = row.objective, chi2 = row.chi2, iterations = row.iteration;
    Value& one = results["stages"].push_back(Value::object());
    one["stage"] = end.stage + 1;
    one["iterations"] = iterations;
    const double misfit = remaining_misfit(result.history, end.stage);
    one["objective"] = objective;
    one["misfit"] = std::isfinite(misfit) ? Value(misfit) : Value();
    one["chi2"] = std::isfinite(chi2) ? Value(chi2) : Value();
    one["because"] = std::string(text_of(end.reason));
    run.say(fmt::format("stage {}   {} iterations, misfit {:.3g} of its start: {}", end.stage + 1, iterations, misfit,
                        text_of(end.reason)));
  }
  if (result.uncertainty) {
    const auto& [deviation, information] = *result.uncertainty;
    const auto known = std::ranges::count_if(information, [](double each) { return each > 1; });
    results["uncertainty"]["decided_directions"] = known;
    run.say(
        fmt::format("uncertain {} of {} directions are decided by the records; standard deviations are in "
                    "uncertainty/ of result.h5",
                    known, information.size()));
  }
  if (!result.truth) return;
  const double eps_r = remaining_error(result.model.eps_r, result.start.eps_r, result.truth->eps_r),
               sigma = remaining_error(result.model.sigma, result.start.sigma, result.truth->sigma);
  results["remaining_error"]["eps_r"] = std::isfinite(eps_r) ? Value(eps_r) : Value();
  results["remaining_error"]["sigma"] = std::isfinite(sigma) ? Value(sigma) : Value();
  run.say(fmt::format("truth     {:.3g} of the error of eps_r and {:.3g} of that of sigma remain", eps_r, sigma));
}

void write_results(const InversionResult& result, const Prepared& prepared, Run& run) {
  const auto writing = run.report().phase("write");
  Contents contents = contents_of(result);
  contents.attribute("made_by", made_by_text());
  run.give(contents, prepared.places.any() ? prepared.places.of("result.h5") : "");
  if (!prepared.places.any()) return;
  const Places& places = prepared.places;
  write_png(places.of("model.png"), model_picture(result));
  write_png(places.of("gather.png"), gather_picture(result, static_cast<Index>(result.observed.shots.size()) / 2));
  AtomicFile page(places.of("report.html"));
  page.write(inversion_page(result, fs::path(places.folder).filename().string()));
  page.commit();
  for (const char* name : result_files) wrote(places.of(name), run);
  draw(misfit_chart(result), places.of("misfit.png"), run);
  draw(spectrum_chart(result), places.of("spectrum.png"), run);
}

std::unique_ptr<CheckpointReader> open_checkpoint(const FwiOptions& options, const Prepared& prepared) {
  if (!options.resume) return nullptr;
  if (!prepared.places.any())
    throw Error(ErrorKind::usage, setting("resume") + " needs the folder of the inversion")
        .hint("name it with " + setting("output"));
  auto checkpoint = std::make_unique<CheckpointReader>(prepared.places.checkpoint(), checkpoint_kind());
  require_same_settings(*checkpoint, prepared.deciding);
  return checkpoint;
}

/// False where another process says why all of them have stopped.
bool invert(Inversion& inversion, Inverting& work, const Prepared& prepared, Run& run) {
  try {
    iterate(work, pace_of(prepared), run);
    return true;
  } catch (Error& error) {
    if (run.silent() && work.stopped_together()) return false;
    const bool stopped = error.kind() == ErrorKind::interrupted || error.kind() == ErrorKind::terminated;
    if (stopped && prepared.places.any() && pace_of(prepared).checkpoints() && !inversion.history().empty())
      error.hint("the same command with " + setting("resume") + " continues from " + prepared.places.checkpoint());
    throw;
  }
}

/// All that steps are made with.
struct Equipment {
  Measurements measurements;
  std::optional<Parameters> parameters;
  std::unique_ptr<CheckpointReader> checkpoint;
  std::array<Reservation, 2> reserved;  ///< of the host, of a GPU
  std::unique_ptr<ExperimentWaves> waves;
};

void read_all(const FwiOptions& options, Run& run, Prepared& prepared, Equipment& made) {
  read_inputs(options, run, prepared);
  const FindArray find = [&run](const std::string& name) { return run.array(name); };
  const Experiment& experiment = prepared.experiment;
  made.measurements = make_measurements(prepared.file, experiment, prepared.observed, find);
  made.parameters.emplace(CellGrid{experiment.grid.cells, experiment.grid.spacing}, prepared.unknowns, experiment.model,
                          make_mask(prepared.file, experiment, find));
  made.checkpoint = open_checkpoint(options, prepared);
}

void run_fwi(const FwiOptions& options, Run& run) {
  const Ranks ranks = join_ranks(options, "the shots", run);
  (void)run.device_for(why_not_on_gpu(ranks));
  auto preparing = run.report().phase("prepare");
  Prepared prepared;
  Equipment with;
  if (!all_succeed(ranks, [&] { read_all(options, run, prepared, with); })) return;
  const TierBudgets budgets = budgets_of(prepared.file.storage.path, ranks, run);
  if (!all_succeed(ranks, [&] {
        with.waves = make_waves(options, prepared, *with.parameters, ranks, budgets, run, with.reserved);
        if (!run.dry_run()) prepare_places(prepared, run);
      }))
    return;
  if (run.dry_run()) return;
  Inversion inversion(*with.waves, std::move(with.measurements), *with.parameters, prepared.settings);
  Inverting work(inversion, prepared, with.checkpoint.get(), ranks, run);
  if (with.checkpoint) run.say(fmt::format("resuming  after {} iterations", work.done()));
  preparing.end();
  run.keep_results_of_failure();
  if (!invert(inversion, work, prepared, run)) return;
  const InversionResult result = result_of(inversion, work, prepared, *with.waves);
  if (run.silent()) return;
  report_outcome(result, run);
  write_results(result, prepared, run);
  if (inversion.failed())
    throw Error(ErrorKind::not_converged, "no step along the first gradient lowers the misfit")
        .hint("look whether records, sources and time step belong together; " + setting("dry_run") +
              " shows the settings");
}

}  // namespace

void invert_run_file(const std::string& run_file, const std::string& folder, const std::vector<std::string>& settings,
                     Run& run) {
  FwiOptions options;
  options.input = run_file;
  options.output = folder;
  options.set = settings;
  run_fwi(options, run);
}

Verb fwi_verb() {
  return {
      .name = "maxwell fwi",
      .summary = "Invert radar records for permittivity and conductivity",
      .details =
          "Full-waveform inversion from one run file: [model] is the start, [data] names the records, and each "
          "[[inversion.stage]] adds frequencies. `sonde maxwell init` writes a run file with every key explained.\n\n"
          "The folder of the result has report.html (model, records, spectra and misfit on one page), their pictures, "
          "result.h5 (models of all stages, gradient, history, sources, records measured and computed), history.csv "
          "and "
          "a checkpoint. A limit that ends an inversion is a success and is "
          "reported; an inversion whose first step finds no descent ends with status 7.\n\n"
          "After an interruption the same command with " +
          setting("resume") +
          " continues from the checkpoint, with the bits of an inversion that was not stopped. Several processes, "
          "`mpirun -n 4 sonde maxwell fwi RUN.toml`, share the shots and give the bits of one; one of them writes, and "
          "another number of them may resume.",
      .examples = {{"sonde maxwell fwi crosshole.toml", "Results in crosshole_fwi/"},
                   {"sonde maxwell fwi crosshole.toml --dry-run", "Memory, storage and sampling, without any work"},
                   {"sonde maxwell fwi crosshole.toml --set inversion.tv=0.01 -o smooth", "With another setting"},
                   {"sonde maxwell fwi crosshole.toml --resume", "Continue after an interruption"},
                   {"mpirun -n 4 sonde maxwell fwi crosshole.toml --threads 1", "By four processes"}},
      .tables = [] { return RunFile().tables().outline(); },
      .plans = true,
      .watched = Watched{.panels = LiveInversion::panels()},
      .ranks = true,
      .invoke = invocation<FwiOptions, run_fwi>};
}

}  // namespace sonde::maxwell
