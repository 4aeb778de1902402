// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <system_error>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/instruments/maxwell/propagate/grid_part.h"
#include "sonde/instruments/maxwell/run/native_run.h"
#include "sonde/instruments/maxwell/verbs/run_parts.h"

namespace sonde::maxwell {
namespace {

constexpr Index most_parts = 1 << 20;  // along an axis: their product is no overflow

}  // namespace

void ModelOptions::describe_input(Fields& fields) {
  fields.positional(
      "input", input,
      {.help = "model of gprMax (.in), native model (.h5) or run file (.toml)", .metavar = "MODEL", .optional = true});
  fields.add("set", set,
             {.help = "one setting of the run file, for instance grid.pml=20", .metavar = "TABLE.KEY=VALUE"});
}

void ModelOptions::describe_computing(Fields& fields) {
  fields.choice("order", order, {{"2", 2}, {"4", 4}, {"6", 6}, {"8", 8}},
                {.help = "order of the spatial stencils; above 2 each step of a model of gprMax becomes several; of "
                         "other models grid.order counts where this is not given"});
  fields.choice("dtype", dtype, precision_words(), {.help = "precision of the fields; also grid.dtype"});
  fields.choice("pml_preset", pml_preset,
                {{"gprmax", PmlPreset::gprmax}, {"tide", PmlPreset::tide}, {"default", PmlPreset::graded}},
                {.help = "profile of the absorbing layers: that of the file; tide, which also absorbs waves that run "
                         "along a layer; default, with kappa up to 1.5; also grid.pml_preset"});
  fields.add("force", force, {.help = "run a model whose cells are too large for its highest frequency"});
}

bool is_native(const std::string& input) {
  const std::string ending = output_ending(input);
  return input.empty() || ending == ".h5" || ending == ".toml";
}

void read_settings(const ModelOptions& options, const Run& run, RunFile& file) {
  if (options.input.empty() && run.tables().size() == 0)
    throw Error(ErrorKind::usage, "input is missing").hint("give a model (.in, .h5) or a run file (.toml)");
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

std::string why_not_on_gpu(const Ranks& ranks) {
  return ranks.size() > 1 ? "several processes compute on the CPU" : "";
}

Ranks join_ranks(const ModelOptions& options, const char* what, Run& run) {
  return sonde::join_ranks(
      run, options.decompose.empty() ? std::string("they share ") + what : "each has a part of the grid");
}

void ModelOptions::describe_parts(Fields& fields) {
  fields.add(
      "decompose", decompose,
      {.help = "parts of the grid along x, y and z for processes that `mpirun` starts, one each: for models that "
               "one machine cannot hold. Unset: processes share shots, or the runs of a model of gprMax",
       .metavar = "PXxPYxPZ"});
}

std::optional<XyzIndex> ModelOptions::parts(const Ranks& ranks) const {
  if (decompose.empty()) return std::nullopt;
  XyzIndex made{};
  const std::vector<std::string> words = split(decompose, 'x');
  bool fits = words.size() == made.size();
  for (std::size_t u = 0; fits && u < made.size(); ++u) {
    const auto [end, status] = std::from_chars(words[u].data(), words[u].data() + words[u].size(), made[u]);
    fits = status == std::errc() && end == words[u].data() + words[u].size() && made[u] >= 1 && made[u] <= most_parts;
  }
  if (!fits)
    throw Error(ErrorKind::usage, fmt::format("{} = \"{}\"; expected parts along x, y and z, such as 2x1x2",
                                              setting("decompose"), decompose));
  require_one_each(made, ranks);
  return ranks.size() > 1 ? std::optional(made) : std::nullopt;
}

Processes processes_of(const ModelOptions& options, const Ranks& ranks) {
  Processes made{ranks};
  if (const auto xyz = options.parts(ranks)) made.parts = GprmaxAxes{}.to_arrays(*xyz);
  return made;
}

std::string smaller_model() { return "raise " + setting("memory") + ", or take larger cells"; }

ObservedData read_data(RunFile& file, Run& run) {
  run.require_room_for(file.data.file);
  ObservedData data = read_observed_data(file.data.file);
  const auto take = [&](const char* key, const Value& value) {
    if (file.model.file.empty() && !file.tables().is_set(std::string("time.") + key))
      file.tables().assign("time", 0, key, value, file.data.file, Origin::file);
  };
  take("dt", Value(data.dt));
  take("nt", Value(data.steps));
  return data;
}

Experiment experiment_of(const ModelOptions& options, const RunFile& file, Run& run) {
  run.add_settings("run_file", file.tables().echo());
  if (!file.model.file.empty()) run.require_room_for(file.model.file);
  Experiment experiment = make_experiment(
      file, [&run](const std::string& name) { return run.array(name); }, run.host_budget().available_bytes());
  (void)run.host_budget().reserve(experiment_bytes(experiment), "the model of " + options.named(), smaller_model());
  return experiment;
}

PlannedModel planned(const Experiment& experiment, const ModelOptions& options, Index cells, Index steps) {
  std::vector<Index> sizes;
  std::vector<double> spacing;
  for (const Axis axis : axes_of(experiment.grid.mode)) {
    sizes.push_back(experiment.grid.cells[dimension(axis)]);
    spacing.push_back(experiment.grid.spacing[dimension(axis)]);
  }
  return {.input = options.named(),
          .grid = fmt::format("{}", fmt::join(sizes, " x ")),
          .about_grid = fmt::format("cells along {} of {} m, {} with the layers outside; {} shots",
                                    sizes.size() == 2 ? "z, x" : "z, y, x", fmt::join(spacing, " x "), cells,
                                    experiment.shots.size()),
          .dt = experiment.dt,
          .steps = steps,
          .order = experiment.grid.order};
}

PlannedModel planned(const GprmaxRun& gprmax, const ModelOptions& options) {
  const GprmaxModel& model = gprmax.model();
  return {.input = options.input,
          .grid = fmt::format("{} x {} x {}", model.cells[0], model.cells[1], model.cells[2]),
          .about_grid = fmt::format("cells along x, y, z of {} x {} x {} m, layers within", model.spacing[0],
                                    model.spacing[1], model.spacing[2]),
          .dt = model.dt,
          .steps = gprmax.steps(),
          .order = options.order};
}

GprmaxRun prepare_gprmax(const ModelOptions& options, const GprmaxInput& input, Index runs, const Ranks& ranks,
                         Run& run) {
  if (input.num_threads && !run.given("threads")) set_thread_count(static_cast<int>(*input.num_threads));
  (void)run.host_budget().reserve(gprmax_model_bytes(input), "the model of " + options.input, smaller_model());
  GprmaxModel model = make_gprmax_model(input);
  if (options.pml_preset != PmlPreset::gprmax) model.pml = settings_of(options.pml_preset);
  if (model.acquisition.receivers.empty())
    throw Error(ErrorKind::bad_input, options.input + ": no receiver, so nothing would be recorded").hint("add an #rx");
  (void)acquisition_of_run(model, runs - 1);
  Processes processes{ranks};
  if (const auto xyz = options.parts(ranks)) processes.parts = model.axes.to_arrays(*xyz);
  return GprmaxRun(input, std::move(model),
                   {.order = options.order,
                    .precision = options.dtype,
                    .runs = runs,
                    .device = run.device(),
                    .processes = processes});
}

void refuse_tables(const ModelOptions& options, const Run& run) {
  if (options.set.empty() && run.tables().size() == 0) return;
  throw Error(ErrorKind::usage, fmt::format("{}: a model of gprMax takes no settings of a run file", options.input))
      .hint("leave out " + setting("set") + " and tables");
}

}  // namespace sonde::maxwell
