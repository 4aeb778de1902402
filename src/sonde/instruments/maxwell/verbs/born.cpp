// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/run_files.h"
#include "sonde/engine/ranks/hand_out.h"
#include "sonde/engine/report/provenance.h"
#include "sonde/engine/run/write_charts.h"
#include "sonde/engine/run/write_contents.h"
#include "sonde/instruments/maxwell/read/direction.h"
#include "sonde/instruments/maxwell/results/records_chart.h"
#include "sonde/instruments/maxwell/run/native_run.h"
#include "sonde/instruments/maxwell/verbs/run_parts.h"
#include "sonde/instruments/maxwell/verbs/verbs.h"

namespace sonde::maxwell {
namespace {

namespace fs = std::filesystem;

struct BornOptions : ModelOptions {
  std::string direction, output, plot;
  PaddingGradient padding = PaddingGradient::exact;
  void describe(Fields& fields) {
    describe_input(fields);
    fields.add("direction", direction,
               {.help = "changes of eps_r, sigma, mu_r, debye/deps, debye/tau and source, HDF5: in the group "
                        "direction, or gradient as "
                        "maxwell gradient writes it",
                .metavar = "FILE.h5"});
    fields.add("output", output,
               {.help = "the change of the records; unset: MODEL_born.h5 beside the model",
                .metavar = "FILE.h5|.nc|.npz",
                .letter = 'o'});
    fields.choice("padding", padding, {{"exact", PaddingGradient::exact}, {"frozen", PaddingGradient::frozen}},
                  {.help = "whether the layers change with the elements at the edge, or stay"});
    describe_computing(fields);
    fields.add("plot", plot,
               {.help = "draw the change of the records of the first shot", .metavar = "FILE.png|.pdf|.svg"});
  }
};

std::string output_of(const BornOptions& options, const Run& run) {
  if (!options.output.empty() || run.gives_arrays() || options.input.empty()) return options.output;
  note_made_up_names();
  const fs::path input(options.input);
  return (input.parent_path() / (input.stem().string() + "_born.h5")).string();
}

/// All that the runs begin with.
struct BornJob {
  RunFile file;
  std::string output;
  Direction direction;
  std::optional<NativeRun> native{};
  Reservation reserved{}, on_device{};
};

void prepare(const BornOptions& options, const Ranks& ranks, Run& run, BornJob& job) {
  read_settings(options, run, job.file);
  job.output = output_of(options, run);
  require_plot(options.plot);
  if (!job.output.empty()) require_contents_path(job.output, {".h5", ".nc", ".npz"});
  Experiment experiment = experiment_of(options, job.file, run);
  run.require_room_for(options.direction);
  job.direction = read_direction(options.direction, experiment);
  const NativeRun& native =
      job.native.emplace(std::move(experiment), NativeRun::Kind::linearised, Processes{ranks}, run.device());
  report_plan(native.plan(), planned(native.experiment(), options, native.cells(), native.steps()), options.force, run);
  if (run.dry_run()) return;
  job.reserved =
      run.host_budget().reserve(native.plan().memory.peak_bytes, "the run of " + options.named(), smaller_model());
  job.on_device = reserve_on_device(native.plan(), options.named(), run);
}

void run_born(const BornOptions& options, Run& run) {
  if (!is_native(options.input))
    throw Error(ErrorKind::not_supported, options.input + ": linearised runs take native models and run files");
  if (options.direction.empty())
    throw Error(ErrorKind::usage, setting("direction") + " is missing").hint("give the changes of the model");
  const Ranks ranks = join_ranks(options, "the shots", run);
  (void)run.device_for(why_not_on_gpu(ranks));
  auto preparing = run.report().phase("prepare");
  BornJob job;
  if (!all_succeed(ranks, [&] { prepare(options, ranks, run, job); })) return;
  preparing.end();
  if (run.dry_run()) return;
  NativeRun& native = *job.native;
  ObservedData data;
  simulate(native.cells(), native.steps() * native.shots_here(), run, [&](ProgressMeter& progress) {
    data = native.born(job.direction, options.padding, [&] { progress.advance(); });
  });
  if (run.silent()) return;
  Contents contents = contents_of(data);
  contents.attribute("made_by", made_by_text());
  contents.attribute("run_file", job.file.text());
  contents.attribute("change_along", options.direction);
  {
    const auto writing = run.report().phase("write");
    run.give(contents, job.output);
  }
  if (!job.output.empty()) wrote(job.output, run);
  run.results()["shots"] = data.shots.size();
  run.results()["receivers"] = data.receivers();
  if (!options.plot.empty()) draw(records_chart(data, {}), options.plot, run);
}

}  // namespace

Verb born_verb() {
  return {.name = "maxwell born",
          .summary = "The change of the records of a model along a change of it, to first order",
          .details =
              "Runs the shots of a native model or run file together with their derivative (Born's approximation, "
              "linearised modelling): the records are what the given changes of eps_r, sigma, mu_r and source add to "
              "those of " +
              std::string("`sonde maxwell run`") +
              " to first order. It is the exact derivative of the discrete run, of which `sonde maxwell gradient` is "
              "the transpose.",
          .examples = {{"sonde maxwell born crosshole.toml --direction change.h5 -o change_records.h5",
                        "What a change of the model does to the records"}},
          .tables = [] { return RunFile().tables().outline(); },
          .plans = true,
          .watched = Watched{},
          .ranks = true,
          .invoke = invocation<BornOptions, run_born>};
}

}  // namespace sonde::maxwell
