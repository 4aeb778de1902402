// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/run_files.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/engine/ranks/hand_out.h"
#include "sonde/engine/report/provenance.h"
#include "sonde/engine/run/run.h"
#include "sonde/engine/run/write_charts.h"
#include "sonde/engine/run/write_contents.h"
#include "sonde/instruments/maxwell/results/gprmax_result.h"
#include "sonde/instruments/maxwell/run/gprmax_run.h"
#include "sonde/instruments/maxwell/run/run_file.h"
#include "sonde/instruments/maxwell/verbs/choose_grid.h"
#include "sonde/instruments/maxwell/verbs/model_files.h"
#include "sonde/instruments/maxwell/verbs/run_parts.h"
#include "sonde/instruments/maxwell/verbs/verbs.h"

namespace sonde::maxwell {
namespace {

namespace fs = std::filesystem;

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
  require_plot(options.plot);
  if (options.output.empty()) return;
  (void)require_ending(options.output, "traces", {".out", ".h5", ".nc", ".npz"});
  if (!writes_out(options) || options.runs == 1) return require_place(options.output);
  for (Index i = 1; i <= options.runs; ++i) require_place(numbered(options.output, std::to_string(i)));
  require_place(numbered(options.output, "_merged"));
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

/// Who wants the geometry only gets nothing of a run.
void refuse_results_of_a_run(const RunOptions& options, const GprmaxInput& input) {
  if (input.geometry_views.empty())
    throw Error(ErrorKind::bad_input, options.input + ": no #geometry_view, so nothing would be written")
        .hint("`sonde maxwell plot` draws the model");
  for (const auto& [key, path] :
       {std::pair{"plot", options.plot}, {"snapshots", options.frames.snapshots}, {"accuracy", options.accuracy}})
    if (!path.empty())
      throw Error(ErrorKind::usage, setting("geometry_only") + " runs nothing that " + setting(key) + " could be for")
          .hint("leave one of them out");
}

void write_geometry(const RunOptions& given, const GprmaxInput& input, Run& run) {
  refuse_results_of_a_run(given, input);
  note_made_up_names();
  const std::string usual = fs::path(given.input).replace_extension(".out").string();
  const ModelFiles files(input, 1, given.output.empty() ? usual : given.output);
  const Reservation reserved =
      run.host_budget().reserve(gprmax_model_bytes(input), "the model of " + given.input, smaller_model());
  if (!run.dry_run()) files.write_views(make_gprmax_model(input), run);
}

FramedRun framed(const GprmaxRun& gprmax, Precision precision) {
  const GprmaxModel& model = gprmax.model();
  return {.title = model.title,
          .axes = model.axes,
          .grid = model.grid,
          .cells = model.cells,
          .spacing = model.spacing,
          .steps = model.iterations - 1,
          .dt = model.dt,
          .inner_dt = gprmax.plan().dt,
          .precision = precision};
}

/// All that the runs of a model begin with.
struct GprmaxJob {
  GprmaxInput input;
  RunOptions options;
  std::optional<ModelFiles> files{};
  std::optional<GprmaxRun> gprmax{};  ///< none where only the geometry is written
  std::optional<Frames> frames{};
  Reservation reserved{}, on_device{};
};

void require_work_for(const Ranks& ranks, const RunOptions& options) {
  const bool divided = options.parts(ranks).has_value();
  if (ranks.size() > 1 && options.runs == 1 && !options.geometry_only && !divided)
    throw Error(ErrorKind::usage, fmt::format("{} processes for one run of a model of gprMax", ranks.size()))
        .hint("ask for several with " + setting("runs") + ", divide the grid with " + setting("decompose") +
              ", or start one process, which uses all cores");
}

void prepare(const RunOptions& given, const Ranks& ranks, Run& run, GprmaxJob& job) {
  job.input = read_gprmax_input(given.input);
  if (given.geometry_only) {
    if (!run.silent()) write_geometry(given, job.input, run);
    return;
  }
  RunOptions& options = job.options = given;
  if (options.output.empty()) options.output = usual_output(job.input, options.input, run);
  if (given.output.empty() || (writes_out(options) && options.runs > 1)) note_made_up_names();
  if (!run.silent()) require_outputs(options);
  if (!options.accuracy.empty()) job.input = choose_grid(options.accuracy, options, job.input, options.runs, run);
  job.files.emplace(job.input, options.runs, options.output);
  GprmaxRun& gprmax = job.gprmax.emplace(prepare_gprmax(options, job.input, options.runs, ranks, run));
  job.frames.emplace(options.frames, framed(gprmax, options.dtype), run);
  RunPlan plan = gprmax.plan();
  job.frames->report(plan.memory, run);
  report_plan(plan, planned(gprmax, options), options.force, run);
  job.reserved = run.host_budget().reserve(plan.memory.peak_bytes, "the run of " + options.input, smaller_model());
  job.on_device = reserve_on_device(plan, options.input, run);
}

/// One run after the other, each by all processes.
std::vector<GprmaxRecord> divided_records(GprmaxJob& job, Run& run) {
  std::vector<GprmaxRecord> records;
  simulate(job.gprmax->cells(), job.gprmax->steps() * job.options.runs, run, [&](ProgressMeter& progress) {
    for (Index which = 0; which < job.options.runs; ++which) {
      Watch watch = which == 0 ? job.frames->watch() : Watch{};
      job.files->add_to(watch, which, *job.gprmax, job.options.dtype, !run.silent());
      records.push_back(job.gprmax->run(
          which, [&] { progress.advance(); }, watch));
    }
  });
  return records;
}

/// The runs by whichever process is free, the first by the one that has the frames, which gets all records. Nothing
/// where another one has failed.
std::optional<std::vector<GprmaxRecord>> records_of(GprmaxJob& job, const Ranks& ranks, Run& run) {
  GprmaxRun& gprmax = *job.gprmax;
  const Index runs = job.options.runs;
  std::vector<GprmaxRecord> records(static_cast<std::size_t>(runs));
  bool done = false;
  simulate(gprmax.cells(), gprmax.steps() * runs, run, [&](ProgressMeter& progress) {
    Index first = 0, next = 1;
    const Desk desk{.next = [&](int rank) -> Piece {
                      if (rank == 0 && first == 0) return {first++};
                      return next < runs ? Piece{next++} : Piece{};
                    },
                    .receive =
                        [&](int rank, std::span<const std::byte> found) {
                          std::vector<double> numbers(found.size() / sizeof(double));
                          std::memcpy(numbers.data(), found.data(), found.size());
                          const auto which = static_cast<Index>(numbers.front());
                          records[static_cast<std::size_t>(which)] =
                              gprmax.record(which, std::span(numbers).subspan(1));
                          if (rank != 0) progress.advance(gprmax.steps());
                        }};
    done = hand_out(ranks, desk, [&](const Piece& piece, const Deliver& deliver) {
      const Index which = piece.front();
      Watch watch = which == 0 ? job.frames->watch() : Watch{};
      job.files->add_to(watch, which, gprmax, job.options.dtype);
      std::vector<double> numbers = gprmax.samples(
          which, [&] { progress.advance(); }, watch);
      numbers.insert(numbers.begin(), static_cast<double>(which));
      deliver(std::as_bytes(std::span(numbers)));
    });
  });
  if (!done) return std::nullopt;
  return records;
}

void give_results(GprmaxJob& job, const std::vector<GprmaxRecord>& records, const Ranks& ranks, Run& run) {
  const RunOptions& options = job.options;
  const GprmaxRun& gprmax = *job.gprmax;
  std::vector<GprmaxOutput> outputs;
  if (!run.silent() && (writes_out(options) || !options.plot.empty())) outputs = outputs_of(gprmax, records);
  {
    const auto writing = run.report().phase("write");
    if (!run.silent()) write_traces(options, gprmax, records, outputs, run);
    if (!run.silent()) job.frames->finish(run);
    job.files->finish_snapshots(ranks, run);
  }
  if (run.silent()) return;
  report_steps_together(job.gprmax->waves(), run);
  job.files->write_views(gprmax.model(), run);
  Value& results = run.results();
  results["title"] = gprmax.model().title;
  results["iterations"] = gprmax.model().iterations;
  results["dt_s"] = gprmax.model().dt;
  results["runs"] = options.runs;
  results["cells"] = gprmax.cells();
  if (!options.plot.empty()) draw(traces_chart(outputs.back(), {}), options.plot, run);
}

void run_gprmax(const RunOptions& given, Run& run) {
  refuse_tables(given, run);
  const Ranks ranks = join_ranks(given, "the runs", run);
  const std::string alone = why_not_on_gpu(ranks);
  (void)run.device_for(alone.empty() ? given.frames.why_not_on_gpu() : alone);
  auto preparing = run.report().phase("prepare");
  GprmaxJob job;
  if (!all_succeed(ranks, [&] {
        require_work_for(ranks, given);
        prepare(given, ranks, run, job);
      }))
    return;
  preparing.end();
  if (run.dry_run() || !job.gprmax) return;
  if (given.parts(ranks))
    give_results(job, divided_records(job, run), ranks, run);
  else if (const auto records = records_of(job, ranks, run))
    give_results(job, *records, ranks, run);
}

void run_run(const RunOptions& options, Run& run) {
  is_native(options.input) ? run_native(options, run) : run_gprmax(options, run);
}

}  // namespace

void RunOptions::describe(Fields& fields) {
  describe_input(fields);
  fields.add("output", output,
             {.help = "the traces; of a model of gprMax also .out as gprMax writes them (of several runs: one file "
                      "each, and one of all); unset: MODEL.out or MODEL_records.h5 beside the model",
              .metavar = "FILE.out|.h5|.nc|.npz",
              .letter = 'o'});
  fields.add("runs", runs,
             {.help = "runs of a model of gprMax, moving sources and receivers by #src_steps and #rx_steps",
              .min = 1,
              .max = 1'000'000,
              .metavar = "N",
              .letter = 'n'});
  describe_computing(fields);
  describe_accuracy(fields, accuracy);
  describe_parts(fields);
  fields.add("plot", plot,
             {.help = "draw the traces: an A-scan of one, a B-scan of several runs or of the receivers of the first "
                      "shot",
              .metavar = "FILE.png|.pdf|.svg"});
  fields.add("geometry_only", geometry_only,
             {.help = "write what #geometry_view of a model of gprMax asks for, and run nothing"});
  frames.describe(fields);
}

Verb run_verb() {
  return {
      .name = "maxwell run",
      .summary = "Simulate the radar traces of a model",
      .details =
          "Reads a model of gprMax (.in) and records what its receivers see. Times, positions and units are those "
          "of gprMax 3.1: sample n is E at n dt and H half a step before. Every command that is not supported is "
          "named with its line before anything runs.\n\n"
          "A native model (.h5) or a run file (.toml, `sonde maxwell init` writes one) has shots: all are run, and "
          "the records of one file are what gradients and inversions compare with. Sample n of them is E at "
          "(n + 1) dt and H at (n + 1/2) dt.\n\n"
          "With stencils of order 4, 6 or 8 waves keep their velocity on coarser cells; the traces have the file's "
          "time step. Several processes (`mpirun -n 4 sonde maxwell run ...`) share the shots, and the runs of a model "
          "of gprMax, and write what one process writes. " +
          setting("plot") + " draws an A-scan of one run and a B-scan of several.\n\n" + setting("accuracy", "1%") +
          " chooses order, cells and time step: the least work whose phase velocity is within 1 % of the true one, in "
          "every direction and at every frequency of the source up to where its spectrum has fallen by 40 dB. The "
          "alternatives are listed. A model of gprMax is run as if its #dx_dy_dz, #pml_cells and "
          "#time_step_stability_factor said so: objects and positions keep their metres, the window its seconds, "
          "dipoles their moment, layers at least their thickness and number of cells. Larger cells are taken only "
          "where "
          "they change no object and no position, and models with plates, edges, voltage sources or "
          "#geometry_objects_read keep their cells. The elements of other models become means, and where nothing says "
          "time.dt it is chosen too.\n\n" +
          setting("snapshots") +
          " writes the fields themselves as frames, for `sonde maxwell plot` and `sonde view`. #snapshot commands of "
          "a model write one file each into the folder MODEL_snaps: HDF5, or VTK ImageData where the name ends in "
          ".vti. #geometry_view commands write VTK ImageData and a picture beside the traces.",
      .examples = {{"sonde maxwell run cylinder.in -o cylinder.out --plot cylinder.png",
                    "One trace, for gprMax's own tools and as a picture"},
                   {"sonde maxwell run cylinder.in -n 60 -o cylinder.out --plot bscan.png",
                    "A line of 60 traces: cylinder1.out to cylinder60.out and cylinder_merged.out"},
                   {"mpirun -n 4 sonde maxwell run large.in --decompose 2x2x1", "One large grid by four processes"},
                   {"sonde maxwell run model.in -o traces.h5 --order 8 --dtype f64", "As one file of arrays"},
                   {"sonde maxwell run model.in --accuracy 1% --dry-run",
                    "The cheapest order, cells and steps for a phase velocity within 1 %, and what else there is"},
                   {"sonde maxwell run model.in --snapshots frames.h5 --snapshot-every 20 --snapshot-step 2",
                    "Every 20th step of every second node as frames, with the energy"},
                   {"sonde maxwell run crosshole.toml -o records.h5 --plot gather.png",
                    "All shots of a run file, and the first one as a picture"}},
      .pages = {{"maxwell-run-file", "The run file with all its keys", run_file_reference}},
      .tables = [] { return RunFile().tables().outline(); },
      .plans = true,
      .watched = Watched{},
      .ranks = true,
      .invoke = invocation<RunOptions, run_run>};
}

}  // namespace sonde::maxwell
