// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/run_files.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/engine/ranks/hand_out.h"
#include "sonde/engine/report/provenance.h"
#include "sonde/engine/run/write_charts.h"
#include "sonde/engine/run/write_contents.h"
#include "sonde/instruments/maxwell/results/records_chart.h"
#include "sonde/instruments/maxwell/run/native_run.h"
#include "sonde/instruments/maxwell/run/run_file.h"
#include "sonde/instruments/maxwell/verbs/choose_grid.h"
#include "sonde/instruments/maxwell/verbs/run_parts.h"

namespace sonde::maxwell {
namespace {

namespace fs = std::filesystem;

/// Where the records go: to the file that is named, else beside the model; to none where a caller takes them.
std::string output_of(const RunOptions& options, const RunFile& file, const Run& run) {
  if (!options.output.empty()) return options.output;
  if (!file.output.file.empty()) return file.output.file;
  if (run.gives_arrays() || options.input.empty()) return "";
  note_made_up_names();
  const fs::path input(options.input);
  return (input.parent_path() / (input.stem().string() + "_records.h5")).string();
}

FramedRun framed(const NativeRun& native) {
  const Experiment& experiment = native.experiment();
  FramedRun made{.title = experiment.title,
                 .grid = experiment.grid,
                 .steps = experiment.steps,
                 .dt = experiment.dt,
                 .inner_dt = native.plan().dt,
                 .precision = experiment.precision,
                 .depth = true};
  for (const Axis axis : all_axes) {
    const std::size_t u = 2 - dimension(axis);
    made.first[u] = experiment.grid.pml[dimension(axis)][0];
    made.cells[u] = experiment.grid.cells[dimension(axis)];
    made.origin[u] = experiment.origin[dimension(axis)];
    made.spacing[u] = experiment.grid.spacing[dimension(axis)];
  }
  return made;
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

void require_settings(const RunOptions& options, const Ranks& ranks, const Run& run) {
  (void)options.parts(ranks);
  if (run.given("geometry_only"))
    throw Error(ErrorKind::usage, setting("geometry_only") + " is of models of gprMax").hint("leave it out");
  if (run.given("runs"))
    throw Error(ErrorKind::usage, setting("runs") + " repeats models of gprMax; a native model has shots")
        .hint("leave it out");
}

}  // namespace

void run_native(const RunOptions& options, Run& run) {
  const Ranks ranks = join_ranks(options, "the shots", run);
  const std::string alone = why_not_on_gpu(ranks);
  (void)run.device_for(alone.empty() ? options.frames.why_not_on_gpu() : alone);
  auto preparing = run.report().phase("prepare");
  RunFile file;
  std::string output;
  std::optional<NativeRun> native;
  std::optional<Frames> frames;
  Reservation reserved, on_device;
  const bool ready = all_succeed(ranks, [&] {
    require_settings(options, ranks, run);
    read_settings(options, run, file);
    output = output_of(options, file, run);
    require_plot(options.plot);
    if (!output.empty()) require_contents_path(output, {".h5", ".nc", ".npz"});
    if (!options.accuracy.empty()) choose_grid(options.accuracy, options, file, run);
    native.emplace(experiment_of(options, file, run), NativeRun::Kind::plain, processes_of(options, ranks),
                   run.device());
    frames.emplace(options.frames, framed(*native), run);
    RunPlan plan = native->plan();
    frames->report(plan.memory, run);
    report_plan(plan, planned(native->experiment(), options, native->cells(), native->steps()), options.force, run);
    reserved = run.host_budget().reserve(plan.memory.peak_bytes, "the run of " + options.named(), smaller_model());
    on_device = reserve_on_device(plan, options.named(), run);
  });
  preparing.end();
  if (!ready || run.dry_run()) return;
  ObservedData data;
  simulate(native->cells(), native->steps() * native->shots_here(), run,
           [&](ProgressMeter& progress) { data = native->run([&] { progress.advance(); }, frames->watch()); });
  if (run.silent()) return;
  report_steps_together(native->waves(), run);
  give_records(data, *native, file, output, run);
  frames->finish(run);
  Value& results = run.results();
  results["title"] = data.title;
  results["steps"] = data.steps;
  results["dt_s"] = data.dt;
  results["shots"] = data.shots.size();
  results["receivers"] = data.receivers();
  results["cells"] = native->cells();
  if (!options.plot.empty()) draw(records_chart(data, {}), options.plot, run);
}

}  // namespace sonde::maxwell
