// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <optional>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/run_files.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/engine/report/progress.h"
#include "sonde/engine/report/provenance.h"
#include "sonde/engine/run/run.h"
#include "sonde/engine/run/write_contents.h"
#include "sonde/instruments/maxwell/results/gprmax_result.h"
#include "sonde/instruments/maxwell/run/gprmax_run.h"
#include "sonde/instruments/maxwell/verbs/verbs.h"

namespace sonde::maxwell {
namespace {

namespace fs = std::filesystem;

enum class PmlPreset { gprmax, tide, graded };

struct RunOptions {
  std::string input, output, plot;
  Index runs = 1;
  int order = 2;
  Precision dtype = Precision::f32;
  PmlPreset pml_preset = PmlPreset::gprmax;
  bool force = false;
  void describe(Fields& fields) {
    fields.positional("input", input, {.help = "model of gprMax", .metavar = "MODEL.in"});
    fields.add(
        "output", output,
        {.help = "the traces; .out as gprMax writes them (of several runs: one file each, and one of all); unset: "
                 "MODEL.out beside the model",
         .metavar = "FILE.out|.h5|.nc|.npz",
         .letter = 'o'});
    fields.add("runs", runs,
               {.help = "runs of the model, moving sources and receivers by #src_steps and #rx_steps",
                .min = 1,
                .metavar = "N",
                .letter = 'n'});
    fields.choice("order", order, {{"2", 2}, {"4", 4}, {"6", 6}, {"8", 8}},
                  {.help = "order of the spatial stencils; above 2 each step of the file becomes several"});
    fields.choice("dtype", dtype, {{"f32", Precision::f32}, {"f64", Precision::f64}},
                  {.help = "precision of the fields"});
    fields.choice(
        "pml_preset", pml_preset,
        {{"gprmax", PmlPreset::gprmax}, {"tide", PmlPreset::tide}, {"default", PmlPreset::graded}},
        {.help = "profile of the absorbing layers: that of the file; tide, which also absorbs waves that run along "
                 "a layer; default, with kappa up to 1.5"});
    fields.add("force", force, {.help = "run a model whose cells are too large for its highest frequency"});
    fields.add("plot", plot,
               {.help = "draw the traces: an A-scan, or of several runs a B-scan", .metavar = "FILE.png|.pdf|.svg"});
  }
};

bool writes_out(const RunOptions& options) { return output_ending(options.output) == ".out"; }

/// "base3.out" of "base.out", as gprMax names the files of several runs.
std::string numbered(const std::string& path, const std::string& suffix) {
  const fs::path whole(path);
  return (whole.parent_path() / (whole.stem().string() + suffix + whole.extension().string())).string();
}

/// Where the traces go when nothing is said: beside the model, or into its #output_dir, as those of gprMax; to no file
/// where a caller takes them.
std::string usual_output(const GprmaxInput& input, const std::string& model, const Run& run) {
  if (run.gives_arrays()) return "";
  const fs::path beside = fs::path(model).replace_extension(".out");
  return input.output_dir.empty() ? beside.string()
                                  : (beside.parent_path() / input.output_dir / beside.filename()).string();
}

void require_outputs(const RunOptions& options) {
  if (!options.plot.empty()) {
    (void)require_ending(options.plot, "charts", chart_endings());
    require_chart(options.plot);
  }
  if (options.output.empty()) return;
  (void)require_ending(options.output, "traces", {".out", ".h5", ".nc", ".npz"});
  if (!writes_out(options) || options.runs == 1) return require_place(options.output);
  for (Index i = 1; i <= options.runs; ++i) require_place(numbered(options.output, std::to_string(i)));
  require_place(numbered(options.output, "_merged"));
}

PmlSettings layers_of(const RunOptions& options, const PmlSettings& of_file) {
  return options.pml_preset == PmlPreset::gprmax ? of_file
         : options.pml_preset == PmlPreset::tide ? tide_pml()
                                                 : PmlSettings{};
}

void report_plan(const GprmaxRun& gprmax, const RunOptions& options, Run& run) {
  const GprmaxModel& model = gprmax.model();
  const GprmaxPlan& plan = gprmax.plan();
  run.report().add_choice("grid", Value(fmt::format("{} x {} x {}", model.cells[0], model.cells[1], model.cells[2])),
                          fmt::format("cells along x, y, z of {} x {} x {} m, layers within", model.spacing[0],
                                      model.spacing[1], model.spacing[2]));
  run.report().add_choice("steps", Value(gprmax.steps()),
                          plan.ratio == 1 ? fmt::format("of {:.5g} s, the file's own", plan.dt)
                                          : fmt::format("{} for each of {:.5g} s: stencils of order {} need them",
                                                        plan.ratio, model.dt, options.order));
  for (const std::string& warning : plan.warnings) log_warning(warning);
  if (plan.highest_frequency > 0) {
    run.report().add_choice(
        "cells per wavelength", Value(plan.cells_per_wavelength),
        fmt::format(
            "at {:.4g} Hz, where the spectrum has fallen by 40 dB; phase velocity there {:+.2f} % along an axis, "
            "{:+.2f} % along the diagonal",
            plan.highest_frequency, 100 * (plan.velocity_along_axis - 1), 100 * (plan.velocity_along_diagonal - 1)));
    run.say(fmt::format("sampling  {:.3g} cells per wavelength at {:.4g} Hz, phase velocity {:+.2f} % along an axis",
                        plan.cells_per_wavelength, plan.highest_frequency, 100 * (plan.velocity_along_axis - 1)));
  }
  run.show_memory(plan.memory, run.host_budget());
}

void require_sampling(const GprmaxPlan& plan, const RunOptions& options) {
  if (options.force || plan.highest_frequency == 0 || plan.cells_per_wavelength >= plan.least_cells_per_wavelength)
    return;
  throw Error(
      ErrorKind::bad_input,
      fmt::format("{}: {:.3g} cells per wavelength at {:.4g} Hz; order {} needs at least {:g}", options.input,
                  plan.cells_per_wavelength, plan.highest_frequency, options.order, plan.least_cells_per_wavelength))
      .hint("take smaller cells, a lower frequency or a higher " + setting("order") + "; " + setting("force") +
            " runs it as it is");
}

std::vector<GprmaxRecord> simulate(GprmaxRun& gprmax, Index runs, Run& run) {
  auto phase = run.report().phase("simulate");
  const double cells =
      static_cast<double>(gprmax.cells()) * static_cast<double>(gprmax.steps()) * static_cast<double>(runs);
  ProgressMeter progress("simulating", gprmax.steps() * runs, "steps");
  const Stopwatch watch;
  std::vector<GprmaxRecord> records;
  for (Index i = 0; i < runs; ++i) records.push_back(gprmax.run(i, [&] { progress.advance(); }));
  const double rate = cells / watch.seconds();
  run.results()["run"]["cell_updates_per_s"] = rate;
  run.say(fmt::format("times     {:.3g} s, {:.4g} million cells per second", watch.seconds(), rate / 1e6));
  return records;
}

void wrote(const std::string& path, Run& run) {
  run.results()["files"].push_back(path);
  run.say("wrote     " + path);
}

/// As gprMax keeps them: one file for each run, and of several one of all.
std::vector<GprmaxOutput> outputs_of(const GprmaxRun& gprmax, const std::vector<GprmaxRecord>& records) {
  std::vector<GprmaxOutput> outputs;
  for (const GprmaxRecord& record : records) outputs.push_back(gprmax_output(gprmax, record));
  if (records.size() > 1) outputs.push_back(merged(outputs));
  return outputs;
}

void write_traces(const RunOptions& options, const GprmaxRun& gprmax, const std::vector<GprmaxRecord>& records,
                  const std::vector<GprmaxOutput>& outputs, Run& run) {
  const bool gprmax_files = writes_out(options);
  if (!gprmax_files || run.gives_arrays()) {
    Contents contents = result_contents(gprmax, records);
    contents.attribute("made_by", made_by_text());
    contents.attribute("order", std::int64_t{options.order});
    const Value settings = run.settings().echo();
    for (const char* key : {"dtype", "pml_preset"}) contents.attribute(key, text_at(settings, key));
    run.give(contents, gprmax_files ? "" : options.output);
  }
  if (!gprmax_files) {
    if (!options.output.empty()) wrote(options.output, run);
    return;
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string path = records.size() == 1  ? options.output
                             : i < records.size() ? numbered(options.output, std::to_string(i + 1))
                                                  : numbered(options.output, "_merged");
    write_gprmax_output(path, outputs[i]);
    wrote(path, run);
  }
}

void draw_traces(const RunOptions& options, const GprmaxOutput& output, Run& run) {
  const auto phase = run.report().phase("plot");
  for (const std::string& file : write_chart(options.plot, traces_chart(output, {})).all()) wrote(file, run);
}

void run_run(const RunOptions& given, Run& run) {
  (void)run.device_for("models of gprMax run on the CPU");
  auto preparing = run.report().phase("prepare");
  const GprmaxInput input = read_gprmax_input(given.input);
  if (input.num_threads && !run.given("threads")) set_thread_count(static_cast<int>(*input.num_threads));
  if (!input.snapshots.empty())
    log_warning(fmt::format("{}: its {} snapshots are not written: #snapshot is not supported yet", given.input,
                            input.snapshots.size()));
  RunOptions options = given;
  if (options.output.empty()) options.output = usual_output(input, options.input, run);
  if (given.output.empty() || (writes_out(options) && options.runs > 1)) note_made_up_names();
  require_outputs(options);
  (void)run.host_budget().reserve(gprmax_model_bytes(input), "the model of " + options.input,
                                  "raise " + setting("memory") + ", or take larger cells");
  GprmaxModel model = make_gprmax_model(input);
  model.pml = layers_of(options, model.pml);
  if (model.acquisition.receivers.empty())
    throw Error(ErrorKind::bad_input, options.input + ": no receiver, so nothing would be recorded").hint("add an #rx");
  (void)acquisition_of_run(model, options.runs - 1);
  GprmaxRun gprmax(input, std::move(model), {.order = options.order, .precision = options.dtype, .runs = options.runs});
  preparing.end();
  report_plan(gprmax, options, run);
  require_sampling(gprmax.plan(), options);
  const Reservation reserved = run.host_budget().reserve(gprmax.plan().memory.peak_bytes, "the run of " + options.input,
                                                         "raise " + setting("memory") + ", or take larger cells");
  if (run.dry_run()) return;
  const std::vector<GprmaxRecord> records = simulate(gprmax, options.runs, run);
  std::vector<GprmaxOutput> outputs;
  if (writes_out(options) || !options.plot.empty()) outputs = outputs_of(gprmax, records);
  {
    const auto writing = run.report().phase("write");
    write_traces(options, gprmax, records, outputs, run);
  }
  Value& results = run.results();
  results["title"] = gprmax.model().title;
  results["iterations"] = gprmax.model().iterations;
  results["dt_s"] = gprmax.model().dt;
  results["runs"] = options.runs;
  results["cells"] = gprmax.cells();
  if (!options.plot.empty()) draw_traces(options, outputs.back(), run);
}

}  // namespace

Verb run_verb() {
  return {.name = "maxwell run",
          .summary = "Simulate the radar traces of a gprMax model",
          .details =
              "Reads a model of gprMax (.in) and records what its receivers see. Times, positions and units are those "
              "of gprMax 3.1: sample n is E at n dt and H half a step before. Every command that is not supported is "
              "named with its line before anything runs.\n\n"
              "With stencils of order 4, 6 or 8 waves keep their velocity on coarser cells; the traces have the file's "
              "time step. " +
              setting("plot") + " draws an A-scan of one run and a B-scan of several.",
          .examples = {{"sonde maxwell run cylinder.in -o cylinder.out --plot cylinder.png",
                        "One trace, for gprMax's own tools and as a picture"},
                       {"sonde maxwell run cylinder.in -n 60 -o cylinder.out --plot bscan.png",
                        "A line of 60 traces: cylinder1.out to cylinder60.out and cylinder_merged.out"},
                       {"sonde maxwell run model.in -o traces.h5 --order 8 --dtype f64", "As one file of arrays"}},
          .plans = true,
          .watched = Watched{},
          .invoke = invocation<RunOptions, run_run>};
}

}  // namespace sonde::maxwell
