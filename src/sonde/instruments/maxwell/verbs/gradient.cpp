// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/run_files.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/engine/ranks/hand_out.h"
#include "sonde/engine/report/provenance.h"
#include "sonde/engine/run/write_charts.h"
#include "sonde/engine/run/write_contents.h"
#include "sonde/instruments/maxwell/results/gradient_result.h"
#include "sonde/instruments/maxwell/run/gprmax_gradient.h"
#include "sonde/instruments/maxwell/run/gradient_run.h"
#include "sonde/instruments/maxwell/verbs/run_parts.h"
#include "sonde/instruments/maxwell/verbs/verbs.h"

namespace sonde::maxwell {
namespace {

namespace fs = std::filesystem;

struct GradientOptions : ModelOptions {
  std::string observed, output, plot;
  std::vector<std::string> wrt = {"eps_r", "sigma"};
  PaddingGradient padding = PaddingGradient::exact;
  RunFile described{};  ///< whose settings of storage and data are lent
  void describe(Fields& fields) {
    describe_input(fields);
    described.tables().lend(fields, {{"data.file", "observed"}});
    fields.add("output", output,
               {.help = "the gradient and the misfit; unset: MODEL_gradient.h5 beside the model",
                .metavar = "FILE.h5|.nc|.npz",
                .letter = 'o'});
    fields.add(
        "wrt", wrt,
        {.help = "what is differentiated by: eps_r, sigma, mu_r, debye (deps and tau), source; several with commas",
         .metavar = "NAME,...",
         .check = require_wrt});
    fields.choice(
        "padding", padding, {{"exact", PaddingGradient::exact}, {"frozen", PaddingGradient::frozen}},
        {.help = "whether elements at the edge get what their copies in the layers get, or the layers are a "
                 "constant; of a model of gprMax the layers are part of it, and their share is given or not"});
    described.tables().lend(fields, {{"storage.mode", "storage_mode"},
                                     {"storage.compression", "storage_compression"},
                                     {"storage.interval", "sampling_interval"},
                                     {"storage.bytes_limit_device"},
                                     {"storage.bytes_limit_host"},
                                     {"storage.path", "storage_path"}});
    describe_computing(fields);
    describe_parts(fields);
    fields.add("plot", plot, {.help = "draw the gradient as maps", .metavar = "FILE.png|.pdf|.svg"});
  }
  /// FieldInfo::check.
  static void require_wrt(std::string_view text, std::string_view where) {
    for (const std::string_view word : split(text, ','))
      if (const std::string_view bare = trim(word);
          bare != "eps_r" && bare != "sigma" && bare != "mu_r" && bare != "debye" && bare != "source")
        throw Error(ErrorKind::usage,
                    fmt::format("{}: \"{}\"; expected eps_r, sigma, mu_r, debye or source", where, bare));
  }
  [[nodiscard]] GradientOf of() const {
    const auto wants = [&](std::string_view wanted) {
      return std::any_of(wrt.begin(), wrt.end(), [&](const std::string& list) {
        const auto words = split(list, ',');
        return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return trim(word) == wanted; });
      });
    };
    return {.eps_r = wants("eps_r"),
            .sigma = wants("sigma"),
            .mu_r = wants("mu_r"),
            .sources = wants("source"),
            .poles = wants("debye"),
            .padding = padding};
  }
};

/// Where the gradient goes: to the file that is named, else beside the model; to none where a caller takes it.
std::string output_of(const GradientOptions& options, const Run& run) {
  if (!options.output.empty() || run.gives_arrays() || options.input.empty()) return options.output;
  note_made_up_names();
  const fs::path input(options.input);
  return (input.parent_path() / (input.stem().string() + "_gradient.h5")).string();
}

void require_outputs(const GradientOptions& options, const std::string& output) {
  require_plot(options.plot);
  if (!output.empty()) require_contents_path(output, {".h5", ".nc", ".npz"});
}

void report_storage(const StoragePlan& storage, Run& run) {
  run.report().add_choice("storage", Value(text_of(storage)), storage.because);
  run.say("storage   " + text_of(storage) + ": " + storage.because);
}

void give_gradient(Contents contents, const StoragePlan& storage, double misfit, const std::string& output,
                   const GradientOptions& options, Run& run) {
  contents.attribute("made_by", made_by_text());
  contents.attribute("storage", text_of(storage));
  {
    const auto writing = run.report().phase("write");
    run.give(contents, output);
  }
  if (!output.empty()) wrote(output, run);
  run.results()["misfit"] = misfit;
  run.say(fmt::format("misfit    {:.9g}", misfit));
  if (!options.plot.empty()) draw(gradient_chart(contents), options.plot, run);
}

/// What stores do not reserve themselves.
Reservation reserve_rest(const RunPlan& plan, const StoragePlan& storage, const ModelOptions& options, Run& run) {
  return run.host_budget().reserve(plan.memory.peak_bytes - storage.host_bytes, "the gradient of " + options.named(),
                                   smaller_model());
}

/// What a gradient begins with.
struct GradientJob {
  RunFile file;
  std::string output;
  ObservedData observed;
  Experiment experiment;
};

void require_poles(const GradientOptions& options, std::size_t poles) {
  if (options.of().poles && poles == 0)
    throw Error(ErrorKind::bad_input, options.named() + ": no Debye poles to differentiate by");
}

void read_inputs(const GradientOptions& options, const Ranks& ranks, Run& run, GradientJob& job) {
  (void)options.parts(ranks);
  read_settings(options, run, job.file);
  job.file.tables().take(run.settings());
  job.output = output_of(options, run);
  require_outputs(options, job.output);
  if (job.file.data.file.empty())
    throw Error(ErrorKind::usage, setting("observed") + " is missing").hint("give the records to compare with");
  for (const char* key : {"data.weight", "data.mute", "data.noise"})
    if (job.file.tables().is_set(key))
      throw Error(ErrorKind::not_supported, setting(key) + " has no meaning for a gradient of squares")
          .hint("leave it out; fwi weighs records");
  job.observed = read_data(job.file, run);
  job.experiment = experiment_of(options, job.file, run);
  require_poles(options, job.experiment.poles.size());
  require_recorded_by(job.experiment, job.observed, job.file.data.file);
}

struct HeldForGradient {
  Reservation host, device;
};

/// Says what is planned, and reserves it unless this is a dry run.
template <class AnyGradient>
void take_memory(const AnyGradient& gradient, const PlannedModel& model, const GradientOptions& options, Run& run,
                 HeldForGradient& held) {
  report_plan(gradient.plan(), model, options.force, run);
  report_storage(gradient.storage(), run);
  if (run.dry_run()) return;
  held.host = reserve_rest(gradient.plan(), gradient.storage(), options, run);
  held.device = reserve_on_device(gradient.plan(), options.named(), run, gradient.storage().device_bytes);
}

void native_gradient(const GradientOptions& options, Run& run) {
  const Ranks ranks = join_ranks(options, "the shots", run);
  (void)run.device_for(why_not_on_gpu(ranks));
  auto preparing = run.report().phase("prepare");
  GradientJob job;
  if (!all_succeed(ranks, [&] { read_inputs(options, ranks, run, job); })) return;
  StorageSettings storage = job.file.storage.settings();
  storage.force = options.force;
  const TierBudgets budgets = budgets_of(storage.path, ranks, run);
  std::optional<GradientRun> gradient;
  HeldForGradient held;
  const bool ready = all_succeed(ranks, [&] {
    gradient.emplace(std::move(job.experiment), std::move(job.observed), options.of(), storage, budgets,
                     processes_of(options, ranks), run.device());
    take_memory(*gradient, planned(gradient->experiment(), options, gradient->cells(), gradient->steps()), options, run,
                held);
  });
  preparing.end();
  if (!ready || run.dry_run()) return;
  SurveyGradient made;
  simulate(gradient->cells(), gradient->steps() * gradient->shots_here(), run,
           [&](ProgressMeter& progress) { made = gradient->run([&] { progress.advance(); }); });
  if (run.silent()) return;
  Contents contents = gradient_contents(gradient->experiment(), made);
  contents.attribute("run_file", job.file.text());
  give_gradient(std::move(contents), gradient->storage(), made.misfit, job.output, options, run);
}

void gprmax_gradient(const GradientOptions& options, Run& run) {
  refuse_tables(options, run);
  const Ranks ranks = join_ranks(options, "nothing", run);
  (void)run.device_for(why_not_on_gpu(ranks));
  auto preparing = run.report().phase("prepare");
  RunFile lent;
  std::string output;
  GprmaxInput input;
  std::optional<GprmaxRun> gprmax;
  const bool read = all_succeed(ranks, [&] {
    if (ranks.size() > 1 && !options.parts(ranks))
      throw Error(ErrorKind::usage, fmt::format("{} processes for the gradient of one run", ranks.size()))
          .hint("divide the grid with " + setting("decompose") + ", or start one process, which uses all cores");
    lent.tables().take(run.settings());
    if (lent.data.file.empty())
      throw Error(ErrorKind::usage, setting("observed") + " is missing")
          .hint("give a result of gprMax to compare with");
    output = output_of(options, run);
    require_outputs(options, output);
    input = read_gprmax_input(options.input);
    gprmax.emplace(prepare_gprmax(options, input, 1, ranks, run));
    require_poles(options, gprmax->waves().problem().medium.poles.size());
    run.require_room_for(lent.data.file);
  });
  if (!read) return;
  StorageSettings storage = lent.storage.settings();
  storage.force = options.force;
  const TierBudgets budgets = budgets_of(storage.path, ranks, run);
  std::optional<GprmaxGradientRun> gradient;
  HeldForGradient held;
  const bool ready = all_succeed(ranks, [&] {
    gradient.emplace(*gprmax, read_gprmax_output(lent.data.file), lent.data.file, options.of(), storage, budgets);
    take_memory(*gradient, planned(*gprmax, options), options, run, held);
  });
  preparing.end();
  if (!ready || run.dry_run()) return;
  GprmaxGradient made;
  simulate(gprmax->cells(), gprmax->steps(), run,
           [&](ProgressMeter& progress) { made = gradient->run([&] { progress.advance(); }); });
  if (run.silent()) return;
  give_gradient(gradient_contents(gprmax->model(), made), gradient->storage(), made.misfit, output, options, run);
}

void run_gradient(const GradientOptions& options, Run& run) {
  is_native(options.input) ? native_gradient(options, run) : gprmax_gradient(options, run);
}

}  // namespace

Verb gradient_verb() {
  return {
      .name = "maxwell gradient",
      .summary = "The derivative of a misfit by the medium and the sources",
      .details =
          "Runs the shots of a model, compares their records with observed ones, 1/2 sum (record - observed)^2, and "
          "takes the runs back: the result is the exact derivative of the discrete run by every element of the "
          "model, whatever its medium, layers, order and time step.\n\n"
          "The sweep backwards needs the fields of the run. " +
          setting("storage_mode") +
          " says where they are kept; auto takes memory, then the disk, then computes them again, and the report "
          "says which and why. Precision and sampling are lowered only where " +
          setting("storage_compression") + " and " + setting("sampling_interval") + " say so.",
      .examples = {{"sonde maxwell gradient crosshole.toml --observed field.h5 -o gradient.h5 --plot gradient.png",
                    "By eps_r and sigma of every cell, and as maps"},
                   {"sonde maxwell gradient model.in --observed field.out --wrt eps_r",
                    "Of a model of gprMax, by eps_r at every edge of its cells"},
                   {"sonde maxwell gradient wet.in --observed field.out --wrt debye",
                    "By deps and tau of the poles of #add_dispersion_debye, at every edge"},
                   {"sonde maxwell gradient large.h5 --observed field.h5 --storage-compression auto "
                    "--sampling-interval auto --dry-run",
                    "What would be kept where, without running it"}},
      .tables = [] { return RunFile().tables().outline(); },
      .plans = true,
      .watched = Watched{},
      .ranks = true,
      .invoke = invocation<GradientOptions, run_gradient>};
}

}  // namespace sonde::maxwell
