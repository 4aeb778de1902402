// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <filesystem>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/run_files.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/engine/report/provenance.h"
#include "sonde/engine/run/write_contents.h"
#include "sonde/instruments/maxwell/results/records_chart.h"
#include "sonde/instruments/maxwell/run/native_run.h"
#include "sonde/instruments/maxwell/run/run_file.h"
#include "sonde/instruments/maxwell/verbs/run_parts.h"

namespace sonde::maxwell {
namespace {

namespace fs = std::filesystem;

/// What the caller says counts more than the file.
void resolve(const RunOptions& options, const Run& run, RunFile& file) {
  if (options.input.empty() && run.tables().size() == 0)
    throw Error(ErrorKind::usage, "input is missing").hint("give a model (.in, .h5) or a run file (.toml)");
  if (run.given("runs"))
    throw Error(ErrorKind::usage, setting("runs") + " repeats models of gprMax; a native model has shots")
        .hint("leave it out");
  const bool run_file = output_ending(options.input) == ".toml";
  if (run_file) file.read(options.input);
  Tables& tables = file.tables();
  if (!run_file && !options.input.empty())
    tables.assign("model", 0, "file", Value(options.input), "input", Origin::caller);
  tables.assign_over_file(run.tables(), "the settings");
  for (const char* key : {"order", "dtype", "pml_preset"})
    if (run.given(key)) tables.assign_text(fmt::format("grid.{}={}", key, run.settings().find(key)->text()));
  Problems problems;
  for (const std::string& one : options.set) problems.collect([&] { tables.assign_text(one); });
  problems.throw_if_any("the command line has several problems");
}

/// Where the records go: to the file that is named, else beside the model; to none where a caller takes them.
std::string output_of(const RunOptions& options, const RunFile& file, const Run& run) {
  if (!options.output.empty()) return options.output;
  if (!file.output.file.empty()) return file.output.file;
  if (run.gives_arrays() || options.input.empty()) return "";
  note_made_up_names();
  const fs::path input(options.input);
  return (input.parent_path() / (input.stem().string() + "_records.h5")).string();
}

PlannedModel planned(const NativeRun& native, const std::string& input) {
  const Experiment& experiment = native.experiment();
  std::vector<Index> cells;
  std::vector<double> spacing;
  for (const Axis axis : axes_of(experiment.grid.mode)) {
    cells.push_back(experiment.grid.cells[dimension(axis)]);
    spacing.push_back(experiment.grid.spacing[dimension(axis)]);
  }
  return {.input = input.empty() ? "the model" : input,
          .grid = fmt::format("{}", fmt::join(cells, " x ")),
          .about_grid = fmt::format("cells along {} of {} m, {} with the layers outside; {} shots",
                                    cells.size() == 2 ? "z, x" : "z, y, x", fmt::join(spacing, " x "), native.cells(),
                                    experiment.shots.size()),
          .dt = experiment.dt,
          .steps = native.steps(),
          .order = experiment.grid.order};
}

void give_records(const ObservedData& data, const NativeRun& native, const RunFile& file, const std::string& output,
                  Run& run) {
  const auto writing = run.report().phase("write");
  Contents contents = contents_of(data);
  contents.attribute("made_by", made_by_text());
  contents.attribute("run_file", file.text());
  contents.attribute("order", std::int64_t{native.experiment().grid.order});
  contents.attribute("inner_steps", std::int64_t{native.plan().ratio});
  run.give(contents, output);
  if (!output.empty()) wrote(output, run);
}

}  // namespace

bool is_native(const std::string& input) {
  const std::string ending = output_ending(input);
  return input.empty() || ending == ".h5" || ending == ".toml";
}

void run_native(const RunOptions& options, Run& run) {
  (void)run.device_for("native models run on the CPU");
  auto preparing = run.report().phase("prepare");
  RunFile file;
  resolve(options, run, file);
  run.add_settings("run_file", file.tables().echo());
  const std::string output = output_of(options, file, run);
  require_plot(options.plot);
  if (!output.empty()) require_contents_path(output, {".h5", ".nc", ".npz"});
  const std::string named = options.input.empty() ? "the model" : options.input;
  if (!file.model.file.empty()) run.require_room_for(file.model.file);
  Experiment experiment = make_experiment(
      file, [&run](const std::string& name) { return run.array(name); }, run.host_budget().available_bytes());
  const std::string remedy = "raise " + setting("memory") + ", or take larger cells";
  (void)run.host_budget().reserve(experiment_bytes(experiment), "the model of " + named, remedy);
  NativeRun native(std::move(experiment));
  preparing.end();
  report_plan(native.plan(), planned(native, options.input), options.force, run);
  const Reservation reserved =
      run.host_budget().reserve(native.plan().memory.peak_bytes, "the run of " + named, remedy);
  if (run.dry_run()) return;
  ObservedData data;
  simulate(native.cells(), native.steps() * static_cast<Index>(native.experiment().shots.size()), run,
           [&](ProgressMeter& progress) { data = native.run([&] { progress.advance(); }); });
  give_records(data, native, file, output, run);
  Value& results = run.results();
  results["title"] = data.title;
  results["steps"] = data.steps;
  results["dt_s"] = data.dt;
  results["shots"] = data.shots.size();
  results["receivers"] = data.receivers();
  results["cells"] = native.cells();
  if (!options.plot.empty()) draw(records_chart(data, {}), options.plot, run);
}

}  // namespace sonde::maxwell
