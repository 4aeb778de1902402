// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/run/write_charts.h"
#include "sonde/instruments/stem/calibrate/calibrate_result.h"
#include "sonde/instruments/stem/results/output_path.h"
#include "sonde/instruments/stem/verbs/analysis_page.h"
#include "sonde/instruments/stem/verbs/command_of.h"
#include "sonde/instruments/stem/verbs/load_text.h"
#include "sonde/instruments/stem/verbs/scan_input.h"
#include "sonde/instruments/stem/verbs/verbs.h"

namespace sonde::stem {
namespace {

struct CalibrateCommandOptions {
  std::string input;
  std::string output, plot, html;
  CalibrateOptions calibrate;
  LoadOptions load;
  void describe(Fields& fields) {
    fields.positional("input", input, {.help = "a scan of a powder, or one pattern of it", .array = true});
    fields.add("output", output,
               {.help = "write ellipse, size of a pixel and profile to this file",
                .metavar = "FILE.h5|.nc|.npz",
                .letter = 'o'});
    fields.add("plot", plot,
               {.help = "draw the profile with its rings and the lines", .metavar = "FILE.png|.pdf|.svg"});
    describe_page(html, fields);
    calibrate.describe(fields);
    load.layout = LayoutChoice::file;  // the mean pattern is enough
    load.describe_without({"layout", "dtype", "bin_mode", "rotation", "scan_step", "calibration"}, fields);
  }
};

void run_calibrate(const CalibrateCommandOptions& options, Run& run) {
  if (options.plot.empty() && options.html.empty()) run.require_output(options.output);
  require_page(options.html);
  if (!options.output.empty()) require_place(options.output);
  require_plot(options.plot);
  options.calibrate.check();
  if (!options.calibrate.calibrant.empty()) {
    run.require_room_for(options.calibrate.calibrant);
    (void)read_lines(options.calibrate.calibrant, options.calibrate.k_max);
  }
  const LoadPreview preview = preview_input(options.input, options.load, run);
  for (const std::string& file : {options.output, options.plot, options.html})
    if (!file.empty()) require_not_input(file, preview.acquisition, options.load);
  if (run.dry_run()) {
    run.report().add_choice("load", Value(preview.estimate.because), "the estimate before decoding");
    run.show_memory(preview.estimate.memory(), run.budget());
    return;
  }
  const Dataset dataset = load_input(options.input, options.load, run);
  say_result(run, dataset);
  report_load(run, dataset);
  auto phase = run.report().phase("rings");
  const CalibrateResult result = make_calibration(dataset, options.calibrate);
  phase.end();
  run.results()["calibrate"] = result.to_value();
  for (const std::string& line : result.lines_of_report()) run.say(line);
  for (const std::string& warning : result.warnings) log_warning(warning);
  const std::string command = command_of("stem calibrate", options, run, {"output", "plot", "html"});
  run.give(result.contents(command), options.output);
  if (!options.output.empty()) run.say("wrote     " + options.output);
  if (!options.plot.empty()) draw(result.chart(), options.plot, run);
  if (!options.html.empty())
    write_page({.title = "Calibration",
                .input = options.input,
                .figures = chart_figures(result.chart(),
                                         "Profile of the mean pattern with its rings and the lines of the substance"),
                .lines = result.lines_of_report(),
                .warnings = result.warnings},
               options.html, command, run);
}

}  // namespace

Verb calibrate_verb() {
  return {
      .name = "stem calibrate",
      .summary = "Measure the ellipse of rings and the size of a detector pixel",
      .details =
          "The rings of a powder in the mean pattern of a scan are circles but for the lenses, which make ellipses of "
          "them. Ellipse and centre are those for which pixels of equal radius vary least; all rings count, and an "
          "intensity that varies along them (texture) does not turn the result. Errors are those of leaving out each "
          "of 16 "
          "sectors.\n\n"
          "With the substance of the rings (" +
          setting("calibrant") +
          ") the size of a pixel is the one that puts them on its lines; it is refused where few rings are on lines, "
          "where "
          "strong lines have no ring, and where another size fits nearly as well.",
      .examples = {{"sonde stem calibrate powder_master.h5 --calibrant Au.cif -o calibration.h5 --plot rings.png",
                    "Ellipse and size of a pixel, with a picture of the rings and the lines"},
                   {"sonde stem calibrate powder.npy -o calibration.h5",
                    "Only the ellipse, of rings that are not known"},
                   {"sonde stem calibrate powder.npy --calibrant Au.D --inner 20 --outer 90 --plot rings.png",
                    "Rings between two radii, and a list of spacings"}},
      .plans = true,
      .watched = Watched{},
      .invoke = invocation<CalibrateCommandOptions, run_calibrate>};
}

}  // namespace sonde::stem
