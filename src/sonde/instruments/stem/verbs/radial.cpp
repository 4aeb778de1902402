// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sonde/engine/base/log.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/run/write_charts.h"
#include "sonde/instruments/stem/radial/radial_result.h"
#include "sonde/instruments/stem/results/output_path.h"
#include "sonde/instruments/stem/verbs/analysis_page.h"
#include "sonde/instruments/stem/verbs/command_of.h"
#include "sonde/instruments/stem/verbs/load_text.h"
#include "sonde/instruments/stem/verbs/scan_input.h"
#include "sonde/instruments/stem/verbs/verbs.h"

namespace sonde::stem {
namespace {

struct RadialCommandOptions {
  std::string input;
  std::string output, plot, html;
  RadialOptions radial;
  LoadOptions load;
  void describe(Fields& fields) {
    fields.positional("input", input, {.help = "a scan", .array = true});
    fields.add("output", output,
               {.help = "write the profiles to this file", .metavar = "FILE.h5|.nc|.npz", .letter = 'o'});
    fields.add("plot", plot, {.help = "draw the profile of the mean pattern", .metavar = "FILE.png|.pdf|.svg"});
    describe_page(html, fields);
    radial.describe(fields);
    load.layout = LayoutChoice::file;  // frames are read twice, and none is held
    load.describe_without({"layout", "dtype", "bin_mode", "rotation", "scan_step"}, fields);
  }
};

void run_radial(const RadialCommandOptions& options, Run& run) {
  if (options.plot.empty() && options.html.empty()) run.require_output(options.output);
  require_page(options.html);
  if (!options.output.empty()) require_place(options.output);
  require_plot(options.plot);
  options.radial.check();
  const LoadPreview preview = preview_input(options.input, options.load, run);
  (void)radial_scale(preview.acquisition.path, options.radial.used(preview.acquisition.calibration),
                     preview.estimate.det_bin, options.radial.unit);
  for (const std::string& file : {options.output, options.plot, options.html})
    if (!file.empty()) require_not_input(file, preview.acquisition, options.load);
  if (run.dry_run()) {
    run.report().add_choice("load", Value(preview.estimate.because), "the estimate before decoding");
    MemoryPlan plan = preview.estimate.memory();
    const auto profiles =
        static_cast<std::size_t>(preview.sizes.scan_rows * preview.sizes.scan_cols *
                                 options.radial.most_bins(preview.estimate.rows, preview.estimate.cols) *
                                 Index{2 * sizeof(float)}) +
        RingStatistics::bytes(options.radial.wanted(), preview.sizes.scan_rows * preview.sizes.scan_cols,
                              options.radial.most_bins(preview.estimate.rows, preview.estimate.cols));
    plan.add("radial profiles", profiles, "mean and variance by position");
    plan.peak_bytes += profiles;
    run.show_memory(plan, run.budget());
    return;
  }
  const Dataset dataset = load_input(options.input, options.load, run);
  say_result(run, dataset);
  report_load(run, dataset);
  auto phase = run.report().phase("radial profiles");
  const RadialResult result = make_radial(dataset, options.radial, run.host_budget());
  phase.end();
  run.results()["radial"] = result.to_value();
  if (result.by_electrons)
    run.report().add_choice("profiles", Value("electrons were summed"), "rings need no frame of them");
  for (const std::string& line : result.lines()) run.say(line);
  for (const std::string& warning : result.warnings) log_warning(warning);
  const std::string command = command_of("stem radial", options, run, {"output", "plot", "html"});
  run.give(result.contents(command), options.output);
  if (!options.output.empty()) run.say("wrote     " + options.output);
  if (!options.plot.empty()) draw(result.chart(), options.plot, run);
  if (!options.html.empty())
    write_page({.title = "Radial profiles",
                .input = options.input,
                .figures = chart_figures(result.chart(), "Profile of the mean pattern"),
                .lines = result.lines(),
                .warnings = result.warnings},
               options.html, command, run);
}

}  // namespace

Verb radial_verb() {
  return {
      .name = "stem radial",
      .summary = "Average each pattern over rings, or over rings and sectors",
      .details =
          "The mean counts of a pixel by its distance from the centre of the pattern, for every scan position and "
          "for the mean pattern of the scan, with the variance that the counts themselves give. A first pass over "
          "the frames finds bad pixels and the centre, a second one sums; none is held.\n\n"
          "Rings may be ellipses (" +
          setting("ellipse") + "), be cut into sectors (" + setting("azimuth") +
          "), and have radii in 1/A, mrad or px (" + setting("unit") +
          "). Bins without a good pixel are NaN, and so are positions without a frame. The median, the spread around "
          "each ring and its angular orders (" +
          setting("median") + ", " + setting("spread") + ", " + setting("orders") +
          ") take whole pixels, by their centres.",
      .examples = {{"sonde stem radial scan_master.h5 -o profiles.h5 --plot profile.png",
                    "Rings of one pixel, and a picture"},
                   {"sonde stem radial scan_master.h5 --bins 100 --inner 0.2 --outer 1.2 --unit 1/A -o profiles.h5",
                    "A hundred rings between two spacings"},
                   {"sonde stem radial scan_master.h5 --azimuth 36 --ellipse 1.02,1,30 --plot cake.png",
                    "Sectors of ten degrees, for an elliptical distortion"},
                   {"sonde stem radial scan_master.h5 --median --spread --orders 8 -o rings.h5",
                    "The background between disks, the fluctuation profile, and the symmetry of rings"},
                   {"sonde stem radial scan.npy --centre 63.5,64.2 --split none -o profiles.npz",
                    "Whole pixels about a given centre"}},
      .plans = true,
      .watched = Watched{},
      .invoke = invocation<RadialCommandOptions, run_radial>};
}

}  // namespace sonde::stem
