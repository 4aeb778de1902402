// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <optional>
#include <string>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/engine/io/png.h"
#include "sonde/engine/run/write_contents.h"
#include "sonde/instruments/stem/bragg/bragg_result.h"
#include "sonde/instruments/stem/bragg/emd_vectors.h"
#include "sonde/instruments/stem/dose/disk_tuning.h"
#include "sonde/instruments/stem/dose/dose_report.h"
#include "sonde/instruments/stem/dose/kernel_study.h"
#include "sonde/instruments/stem/results/output_path.h"
#include "sonde/instruments/stem/verbs/analysis_page.h"
#include "sonde/instruments/stem/verbs/command_of.h"
#include "sonde/instruments/stem/verbs/load_text.h"
#include "sonde/instruments/stem/verbs/scan_input.h"
#include "sonde/instruments/stem/verbs/verbs.h"

namespace sonde::stem {
namespace {

// Other formats do not keep the attributes of a group, which say what the lists are of.
const std::vector<std::string> bragg_endings = {".h5", ".emd"};

struct BraggCommandOptions {
  std::string input;
  std::string output, png, html;
  std::optional<Index> tune, kernel_study, dose_report;
  BraggOptions bragg;
  LoadOptions load;
  void describe(Fields& fields) {
    fields.positional("input", input, {.help = "a scan", .array = true});
    fields.add("output", output,
               {.help = "write the disks of every position to this file; .emd is the layout of py4DSTEM",
                .metavar = "FILE.h5|.emd",
                .letter = 'o'});
    fields.add("png", png,
               {.help = "draw the template, the disks of a pattern and those of all patterns into this picture",
                .metavar = "FILE.png"});
    describe_page(html, fields);
    fields.add("tune", tune,
               {.help = "choose threshold, kernel, background, trench and spacing on so many patterns, by the error of "
                        "strain beside what the counts allow; an output is made with what is chosen, without one "
                        "nothing else is done",
                .min = 1,
                .max = 100'000,
                .metavar = "N"});
    fields.add("kernel_study", kernel_study,
               {.help = "find the disks of so many patterns with each kernel, and compare their scatter with what the "
                        "counts allow; without an output nothing else is done",
                .min = 1,
                .max = 100'000,
                .metavar = "N"});
    fields.add("dose_report", dose_report,
               {.help = "divide the counts of so many patterns into two halves, and report how precisely disks and "
                        "strain are known, beside what the counts allow; without an output nothing else is done",
                .min = 1,
                .max = 100'000,
                .metavar = "N"});
    bragg.describe(fields);
    load.layout = LayoutChoice::file;  // frames are read twice, and none is held
    load.describe_without({"layout", "dtype", "bin_mode", "rotation"}, fields);
  }
};

/// Everything that can be refused before a frame is read.
LoadPreview checked(const BraggCommandOptions& options, Run& run) {
  require_page(options.html);
  if (options.png.empty() && options.html.empty() && !options.tune && !options.kernel_study && !options.dose_report)
    run.require_output(options.output, bragg_endings);
  if (!options.output.empty()) require_contents_path(options.output, bragg_endings);
  if (!options.png.empty()) {
    (void)require_ending(options.png, "pictures", {".png"});
    require_place(options.png);
  }
  options.bragg.check();
  if (options.tune && options.dose_report)
    throw Error(ErrorKind::usage, setting("dose_report") + " with " + setting("tune") +
                                      ": a report is of settings that are known; expected one of them")
        .hint("give what " + setting("tune", "N") + " chooses to the report");
  const PatternBackground background = options.bragg.background;
  if (options.dose_report &&
      (background == PatternBackground::constant || background == PatternBackground::radial_median))
    throw Error(ErrorKind::usage,
                fmt::format("{}: medians of half the counts are not half the medians; expected {} or {}",
                            setting("dose_report"), setting("background", "none"), setting("background", "dog")));
  LoadPreview preview = preview_input(options.input, options.load, run);
  if (!options.bragg.vacuum().empty()) (void)preview_input(options.bragg.vacuum(), options.load, run);
  for (const std::string& file : {options.output, options.png, options.html})
    if (!file.empty()) require_not_input(file, preview.acquisition, options.load);
  return preview;
}

void show_plan(const BraggCommandOptions& options, const LoadPreview& preview, Run& run) {
  run.report().add_choice("load", Value(preview.estimate.because), "the estimate before decoding");
  MemoryPlan plan = preview.estimate.memory();
  const std::size_t lists =
      BraggDisks::most_bytes(preview.sizes.scan_rows * preview.sizes.scan_cols, options.bragg.max_num_peaks);
  plan.add("lists of disks", lists, "if every pattern has as many as it may");
  plan.peak_bytes += lists;
  run.show_memory(plan, run.budget());
}

Probe probe_for(const Dataset& dataset, const BraggCommandOptions& options, Run& run) {
  if (options.bragg.vacuum().empty()) return find_probe(dataset, options.bragg);
  return during("the vacuum scan", [&] { return vacuum_probe(load_input(options.bragg.vacuum(), options.load, run)); });
}

void report_study(const Dataset& dataset, const Probe& probe, const BraggCommandOptions& options, Run& run) {
  auto phase = run.report().phase("kernel study");
  const KernelStudy study = study_kernels(dataset, probe, options.bragg, *options.kernel_study, run.host_budget());
  phase.end();
  run.results()["kernel_study"] = study.to_value();
  for (const std::string& warning : study.warnings) log_warning(warning);
  run.report().add_choice("recommended kernel", Value(name(study.recommended)), study.because);
  for (const std::string& line : study.lines()) run.say(line);
}

/// Chooses settings, and says which.
void tune(const Dataset& dataset, const Probe& probe, BraggCommandOptions& options, Run& run) {
  auto phase = run.report().phase("tuning");
  const DiskTuning tuning = tune_disks(dataset, probe, options.bragg, *options.tune, run.host_budget());
  phase.end();
  run.results()["tuning"] = tuning.to_value();
  for (const std::string& warning : tuning.warnings) log_warning(warning);
  for (const TunedSetting& of : tuning.settings)
    run.report().add_choice(of.key, Value(of.trials[of.chosen].value), of.because);
  for (const std::string& line : tuning.lines()) run.say(line);
  options.bragg = tuning.options;
}

void report_halves(const Dataset& dataset, const Probe& probe, const BraggCommandOptions& options, Run& run) {
  auto phase = run.report().phase("dose report");
  const DoseReport report = report_dose(dataset, probe, options.bragg, *options.dose_report, run.host_budget());
  phase.end();
  run.results()["dose_report"] = report.to_value();
  for (const std::string& warning : report.warnings) log_warning(warning);
  for (const std::string& line : report.lines()) run.say(line);
}

void run_bragg(const BraggCommandOptions& given, Run& run) {
  BraggCommandOptions options = given;
  const LoadPreview preview = checked(options, run);
  if (run.dry_run()) return show_plan(options, preview, run);
  const Dataset dataset = load_input(options.input, options.load, run);
  say_result(run, dataset);
  report_load(run, dataset);
  const Probe probe = probe_for(dataset, options, run);
  if (options.tune) tune(dataset, probe, options, run);
  if (options.kernel_study) report_study(dataset, probe, options, run);
  if (options.dose_report) report_halves(dataset, probe, options, run);
  if (options.tune || options.kernel_study || options.dose_report)
    if (options.output.empty() && options.png.empty() && options.html.empty() && !run.gives_arrays()) return;
  auto phase = run.report().phase("Bragg disks");
  const BraggResult result = make_bragg(dataset, probe, options.bragg, run.host_budget());
  phase.end();
  run.results()["bragg"] = result.to_value();
  for (const std::string& warning : result.warnings) log_warning(warning);
  for (const Choice<std::string>& choice : result.choices)
    run.report().add_choice("bragg", Value(choice.value), choice.because);
  for (const std::string& line : result.lines()) run.say(line);
  const std::string command = command_of("stem bragg", options, run, {"output", "png", "html"});
  if (output_ending(options.output) == ".emd") {
    write_emd_vectors(options.output, result.vectors, command);
    run.give(result.contents(command));
  } else {
    run.give(result.contents(command), options.output);
  }
  if (!options.output.empty()) run.say("wrote     " + options.output);
  if (!options.png.empty()) {
    write_png(options.png, result.picture(), command);
    run.say("wrote     " + options.png);
  }
  if (!options.html.empty())
    write_page({.title = "Bragg disks",
                .input = options.input,
                .figures = {picture_figure(result.picture(),
                                           "The template, the disks of a pattern and those of all patterns")},
                .lines = result.lines(),
                .warnings = result.warnings},
               options.html, command, run);
  if (result.converged()) return;
  run.keep_results_of_failure();
  throw Error(ErrorKind::not_converged, fmt::format("{}: {} of {} patterns have no disk", dataset.acquisition().path,
                                                    result.without, result.patterns))
      .hint("look at the mean pattern, and give " + setting("probe", "RADIUS") + " or a smaller " +
            setting("min_relative_intensity"));
}

}  // namespace

Verb bragg_verb() {
  return {.name = "stem bragg",
          .summary = "Find the Bragg disks of every pattern",
          .details =
              "The brightest disk of the mean pattern is correlated with every pattern; maxima of the correlation are "
              "disks, whose places are found between pixels, with the standard error that the counts give them. What "
              "each filter removed is reported, and so is what should not be trusted: disks that overlap, a central "
              "disk that is saturated or hidden. A first pass over the frames finds bad pixels and the disk, a second "
              "one the disks of every position; none is held.\n\n"
              "Tuning chooses threshold, kernel, background, trench and spacing on some patterns: those whose disks "
              "give strain the least error, compared with what the counts of all disks allow. Each value that was "
              "tried, each choice with its reason, and the options that repeat it are printed.\n\n"
              "A kernel study finds the disks of some patterns with each kernel. How far they are from the lattice of "
              "their pattern, over the Cramer-Rao bound of their counts, shows which kernel wastes least of the "
              "dose.\n\n"
              "A dose report divides the electrons of some patterns at random into two halves, finds the disks of both "
              "and compares their places: the scatter of the places at the full dose, beside the Cramer-Rao bound and "
              "the standard errors stated, the strain precision at each position, and the counts that a strain of "
              "1e-3 needs. Electrons must be counted, or their gain known: where the variance of a flat background is "
              "not its mean, the report is refused.\n\n"
              "Settings have the names of py4DSTEM and follow from the radius of the disk where they are not given. "
              "When more than nine patterns in ten have no disk, the exit status is 7; the file is written.",
          .examples = {{"sonde stem bragg scan_master.h5 -o bragg.h5 --png bragg.png", "Everything found in the scan"},
                       {"sonde stem bragg scan_master.h5 --probe vacuum_master.h5 --kernel poisson -o bragg.h5",
                        "The measured disk of a vacuum scan"},
                       {"sonde stem bragg scan_master.h5 --kernel-study 64",
                        "How precisely each kernel places the disks of 64 patterns"},
                       {"sonde stem bragg scan_master.h5 --tune 64 -o bragg.h5",
                        "Settings chosen on 64 patterns, and the disks of the scan with these"},
                       {"sonde stem bragg scan_master.h5 --dose-report 64",
                        "How precisely disks and strain are known, from two halves of the counts of 64 patterns"},
                       {"sonde stem bragg scan.npy --probe 6.5 --subpixel poly --png bragg.png",
                        "A disk of a given radius, and parabolas"}},
          .plans = true,
          .watched = Watched{},
          .invoke = invocation<BraggCommandOptions, run_bragg>};
}

}  // namespace sonde::stem
