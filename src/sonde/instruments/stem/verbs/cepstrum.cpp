// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/engine/io/png.h"
#include "sonde/instruments/stem/results/output_path.h"
#include "sonde/instruments/stem/spectra/cepstrum_result.h"
#include "sonde/instruments/stem/verbs/analysis_page.h"
#include "sonde/instruments/stem/verbs/command_of.h"
#include "sonde/instruments/stem/verbs/load_text.h"
#include "sonde/instruments/stem/verbs/scan_input.h"
#include "sonde/instruments/stem/verbs/verbs.h"

namespace sonde::stem {
namespace {

struct CepstrumCommandOptions {
  std::string input;
  std::string output, png, html;
  CepstrumOptions cepstrum;
  LoadOptions load;
  void describe(Fields& fields) {
    fields.positional("input", input, {.help = "a scan", .array = true});
    fields.add("output", output,
               {.help = "write the mean spectrum and the vectors of every position to this file",
                .metavar = "FILE.h5|.nc|.npz",
                .letter = 'o'});
    fields.add(
        "png", png,
        {.help = "draw the mean spectrum and the lengths of the vectors into this picture", .metavar = "FILE.png"});
    describe_page(html, fields);
    cepstrum.describe(fields);
    load.layout = LayoutChoice::file;  // frames are read more than once, and none is held
    load.describe_without({"layout", "dtype", "bin_mode", "rotation", "scan_step"}, fields);
  }
};

void run_cepstrum(const CepstrumCommandOptions& options, Run& run) {
  if (options.png.empty() && options.html.empty()) run.require_output(options.output);
  require_page(options.html);
  if (!options.png.empty()) (void)require_ending(options.png, "pictures", {".png"});
  options.cepstrum.check();
  for (const std::string& file : {options.output, options.png})
    if (!file.empty()) require_place(file);
  const LoadPreview preview = preview_input(options.input, options.load, run);
  for (const std::string& file : {options.output, options.png, options.html})
    if (!file.empty()) require_not_input(file, preview.acquisition, options.load);
  if (run.dry_run()) {
    run.report().add_choice("load", Value(preview.estimate.because), "the estimate before decoding");
    MemoryPlan plan = preview.estimate.memory();
    const auto vectors =
        static_cast<std::size_t>(preview.sizes.scan_rows * preview.sizes.scan_cols) * sizeof(MeasuredPair);
    plan.add("vectors", vectors, "both of every position, with their covariance");
    plan.peak_bytes += vectors;
    run.show_memory(plan, run.budget());
    return;
  }
  const Dataset dataset = load_input(options.input, options.load, run);
  say_result(run, dataset);
  report_load(run, dataset);
  auto phase = run.report().phase("spectra");
  const CepstrumResult result = make_cepstrum(dataset, options.cepstrum, run.host_budget());
  phase.end();
  run.results()["cepstrum"] = result.to_value();
  for (const std::string& line : result.lines()) run.say(line);
  for (const std::string& warning : result.warnings) log_warning(warning);
  const std::string command = command_of("stem cepstrum", options, run, {"output", "png", "html"});
  run.give(result.contents(command), options.output);
  if (!options.output.empty()) run.say("wrote     " + options.output);
  if (!options.png.empty()) {
    write_png(options.png, result.picture(), command);
    run.say("wrote     " + options.png);
  }
  if (!options.html.empty())
    write_page({.title = "Cepstra",
                .input = options.input,
                .figures = {picture_figure(result.picture(), "Mean spectrum and the lengths of both vectors")},
                .lines = result.lines(),
                .warnings = result.warnings},
               options.html, command, run);
  if (!result.failed()) return;
  run.keep_results_of_failure();
  throw Error(ErrorKind::not_converged,
              fmt::format("{}: {} of {} patterns have no lattice in their cepstrum", dataset.acquisition().path,
                          result.frames - result.found(), result.frames))
      .hint("give the lattice of the pattern, " + setting("basis", "G1X,G1Y,G2X,G2Y"));
}

}  // namespace

Verb cepstrum_verb() {
  return {
      .name = "stem cepstrum",
      .summary = "Measure the spacings of a crystal in the power cepstrum of every pattern",
      .details =
          "The power spectrum of the logarithm of a pattern, |F{log(1 + I)}|^2, has peaks at the lattice vectors of "
          "the "
          "crystal: disks that are g apart make one at 1/g, wherever the pattern is on the detector, and whatever its "
          "disks look like inside. The mean over the scan shows them; the two shortest independent ones are then "
          "measured in each pattern, between the points of the transform, with the standard errors that the counts "
          "give. Lengths are in Angstrom where the size of a detector pixel is known, else in cycles per pixel "
          "(1/px).\n\n"
          "A first pass over the frames finds bad pixels, a second one makes the spectra; none is held. The power "
          "spectrum and the autocorrelation of the counts are made the same way (" +
          setting("kind") +
          "). When more than nine patterns in ten have no lattice, the exit status is 7; the file is "
          "written.",
      .examples = {{"sonde stem cepstrum scan_master.h5 -o cepstrum.h5 --png cepstrum.png",
                    "Mean, vectors and a picture"},
                   {"sonde stem cepstrum scan_master.h5 --basis 21,2,-4,23 -o cepstrum.h5",
                    "Peaks of a lattice of disks that is known"},
                   {"sonde stem cepstrum scan.npy --kind autocorrelation --window none --png pairs.png",
                    "How pairs of counts are apart"}},
      .plans = true,
      .watched = Watched{},
      .invoke = invocation<CepstrumCommandOptions, run_cepstrum>};
}

}  // namespace sonde::stem
