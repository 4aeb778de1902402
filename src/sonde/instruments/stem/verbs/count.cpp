// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/engine/io/png.h"
#include "sonde/engine/run/write_charts.h"
#include "sonde/engine/run/write_contents.h"
#include "sonde/instruments/stem/count/count_result.h"
#include "sonde/instruments/stem/count/stempy_file.h"
#include "sonde/instruments/stem/results/output_path.h"
#include "sonde/instruments/stem/verbs/analysis_page.h"
#include "sonde/instruments/stem/verbs/command_of.h"
#include "sonde/instruments/stem/verbs/load_text.h"
#include "sonde/instruments/stem/verbs/scan_input.h"
#include "sonde/instruments/stem/verbs/verbs.h"

namespace sonde::stem {
namespace {

// Other formats do not keep the attributes of a group, which say what the lists are of.
const std::vector<std::string> event_endings = {".h5"};

struct CountCommandOptions {
  std::string input;
  std::string output, png, plot, html;
  EventFormat format = EventFormat::sonde;
  CountOptions count;
  LoadOptions load;
  void describe(Fields& fields) {
    fields.positional("input", input, {.help = "a scan of dense frames", .array = true});
    fields.add("output", output,
               {.help = "write the electrons of every position to this file", .metavar = "FILE.h5", .letter = 'o'});
    describe_event_format(format, fields);
    fields.add("png", png,
               {.help = "draw the electrons by pixel and by position into this picture", .metavar = "FILE.png"});
    fields.add("plot", plot,
               {.help = "draw the values of the sampled frames with the thresholds", .metavar = "FILE.png|.pdf|.svg"});
    describe_page(html, fields);
    count.describe(fields);
    load.layout = LayoutChoice::file;  // frames are read twice, and none is held
    load.describe_without({"layout", "dtype", "bin_mode", "rotation", "calibration", "det_bin", "edge", "scan_bin"},
                          fields);
  }
};

/// Everything that can be refused before a frame is read.
LoadPreview checked(const CountCommandOptions& options, Run& run) {
  require_page(options.html);
  if (options.png.empty() && options.plot.empty() && options.html.empty())
    run.require_output(options.output, event_endings);
  if (!options.output.empty()) require_contents_path(options.output, event_endings);
  if (!options.png.empty()) {
    (void)require_ending(options.png, "pictures", {".png"});
    require_place(options.png);
  }
  require_plot(options.plot);
  options.count.check();
  LoadPreview preview = preview_input(options.input, options.load, run);
  for (const std::string& file : {options.output, options.png, options.plot, options.html})
    if (!file.empty()) require_not_input(file, preview.acquisition, options.load);
  return preview;
}

void show_plan(const LoadPreview& preview, Run& run) {
  run.report().add_choice("load", Value(preview.estimate.because), "the estimate before decoding");
  MemoryPlan plan = preview.estimate.memory();
  const std::size_t lists = usual_list_bytes(preview.sizes.scan_rows * preview.sizes.scan_cols,
                                             preview.estimate.rows * preview.estimate.cols);
  plan.add("lists of electrons", lists, "if one pixel in a hundred has an electron");
  plan.peak_bytes += lists;
  run.show_memory(plan, run.budget());
}

void run_count(const CountCommandOptions& options, Run& run) {
  const LoadPreview preview = checked(options, run);
  FrameCorrection correction = read_correction(options.count, preview.acquisition.rows, preview.acquisition.cols);
  if (run.dry_run()) return show_plan(preview, run);
  const Dataset dataset = load_input(options.input, options.load, run);
  say_result(run, dataset);
  report_load(run, dataset);
  auto phase = run.report().phase("counting");
  const CountResult result = make_count(dataset, std::move(correction), options.count, run.host_budget());
  phase.end();
  run.results()["count"] = result.to_value();
  for (const std::string& warning : result.warnings) log_warning(warning);
  run.report().add_choice("background", Value(result.thresholds.limits.background),
                          result.thresholds.background_because);
  const double xray = result.thresholds.limits.xray;
  run.report().add_choice("xray", std::isfinite(xray) ? Value(xray) : Value("none"), result.thresholds.xray_because);
  for (const std::string& line : result.lines()) run.say(line);
  const std::string command = command_of("stem count", options, run, {"output", "png", "plot", "html"});
  const Contents contents = result.contents(command);
  run.give(contents);
  if (!options.output.empty()) {
    write_events(options.output, options.format, contents, command);
    run.say("wrote     " + options.output);
  }
  if (!options.png.empty()) {
    write_png(options.png, result.picture(), command);
    run.say("wrote     " + options.png);
  }
  if (!options.html.empty())
    write_page({.title = "Electrons",
                .input = options.input,
                .figures = {picture_figure(result.picture(), "Electrons by detector pixel and by scan position")},
                .lines = result.lines(),
                .warnings = result.warnings},
               options.html, command, run);
  if (!options.plot.empty()) draw(result.chart(), options.plot, run);
  if (result.list->events() > 0) return;
  run.keep_results_of_failure();
  throw Error(ErrorKind::not_converged,
              fmt::format("{}: no electron in {} frames", dataset.acquisition().path, result.frames))
      .hint("look at the values of the frames with " + setting("plot") + ", and give a smaller " +
            setting("background", "COUNTS"));
}

}  // namespace

Verb count_verb() {
  return {
      .name = "stem count",
      .summary = "Count the electrons of dense frames",
      .details =
          "A detector that integrates charge shows each electron as a small cloud over noise. Values are compared "
          "with two thresholds, after the dark image is subtracted and the gain applied: above the noise, below "
          "x-rays. Each maximum of 3 x 3 pixels between them is an electron, and the file holds the pixels of the "
          "electrons of every position, in place of frames. A first pass over the frames finds bad pixels, a "
          "second one counts; none is held.\n\n"
          "Thresholds that are not given follow from sampled frames: the background from a Gaussian fitted to "
          "their noise, the x-rays from the values of the electrons. The report says how many electrons a frame "
          "has, how many are lost beside another one, and how many noise by itself makes. Where no frame has an "
          "electron the exit status is 7.",
      .examples = {{"sonde stem count frames_master.h5 -o events.h5 --png events.png", "Thresholds from the frames"},
                   {"sonde stem count frames.npy --dark dark.npy --gain gain.npy -o events.h5 --plot values.png",
                    "Dark and gain images, and a look at the thresholds"},
                   {"sonde stem count frames.npy --background 24 --xray 150 -o events.h5", "Given thresholds"},
                   {"sonde stem count frames_master.h5 -o counted.h5 --format stempy", "A file for stempy"}},
      .plans = true,
      .watched = Watched{},
      .invoke = invocation<CountCommandOptions, run_count>};
}

}  // namespace sonde::stem
