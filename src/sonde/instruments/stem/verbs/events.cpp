// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "sonde/engine/base/log.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/engine/io/png.h"
#include "sonde/engine/run/write_contents.h"
#include "sonde/instruments/stem/count/stempy_file.h"
#include "sonde/instruments/stem/timepix/event_report.h"
#include "sonde/instruments/stem/verbs/analysis_page.h"
#include "sonde/instruments/stem/verbs/command_of.h"
#include "sonde/instruments/stem/verbs/verbs.h"

namespace sonde::stem {
namespace {

struct EventsCommandOptions {
  std::string input;
  std::string output, png, html;
  EventFormat format = EventFormat::sonde;
  TimepixOptions timepix;
  void describe(Fields& fields) {
    fields.positional("input", input, {.help = "raw data of a Timepix3 detector", .metavar = "FILE.tpx3|.t3p"});
    fields.add(
        "output", output,
        {.help = "write the electrons of each position to this file", .metavar = "FILE.h5|.nc|.npz", .letter = 'o'});
    describe_event_format(format, fields);
    fields.add("png", png,
               {.help = "draw the sum of all patterns and the electrons of each position", .metavar = "FILE.png"});
    describe_page(html, fields);
    timepix.describe(fields);
  }
};

void show_plan(const FileSurvey& survey, const ScanTiming& timing, const ChipLayout& layout,
               const EventsCommandOptions& options, Run& run) {
  Report& report = run.report();
  report.add_choice("lines", Value(timing.by_lines && timing.channel ? name_of(*timing.channel) : "none"),
                    timing.because);
  report.add_choice("hits", Value(survey.hits),
                    fmt::format("in the first {} of {}", format_bytes(static_cast<double>(survey.read_bytes)),
                                format_bytes(static_cast<double>(survey.file_bytes))));
  run.show_memory(plan_events(layout, options.timepix), run.host_budget());
}

void run_events(const EventsCommandOptions& options, Run& run) {
  if (options.png.empty() && options.html.empty()) run.require_output(options.output);
  require_page(options.html);
  if (!options.output.empty() && options.format == EventFormat::stempy) require_contents_path(options.output, {".h5"});
  if (!options.output.empty()) require_place(options.output);
  if (!options.png.empty()) {
    (void)require_ending(options.png, "pictures", {".png"});
    require_place(options.png);
  }
  options.timepix.check();
  const ChipLayout layout = options.timepix.chips.empty() ? ChipLayout() : read_chip_layout(options.timepix.chips);
  const FileSurvey survey = survey_file(options.input, layout, options.timepix.damage);
  const ScanTiming timing = choose_timing(options.input, survey, options.timepix);
  if (run.dry_run()) return show_plan(survey, timing, layout, options, run);
  auto phase = run.report().phase("events");
  const auto events = std::make_shared<const TimepixEvents>(
      find_events(options.input, layout, timing, options.timepix, run.host_budget()));
  phase.end();
  run.results()["events"] = value_of(*events, options.timepix);
  for (const std::string& line : lines_of(*events, options.timepix)) run.say(line);
  for (const std::string& warning : warnings_of(*events, options.timepix)) log_warning(warning);
  auto writing = run.report().phase("write");
  const std::string command = command_of("stem events", options, run, {"output", "png", "html"});
  const Contents contents = contents_of(events, options.timepix, command);
  run.give(contents);
  if (!options.output.empty()) {
    write_events(options.output, options.format, contents, command);
    run.say("wrote     " + options.output);
  }
  if (!options.png.empty()) {
    write_png(options.png, picture_of(*events));
    run.say("wrote     " + options.png);
  }
  if (!options.html.empty())
    write_page({.title = "Electrons",
                .input = options.input,
                .figures = {picture_figure(picture_of(*events), "Sum of all patterns, and electrons of each position")},
                .lines = lines_of(*events, options.timepix),
                .warnings = warnings_of(*events, options.timepix)},
               options.html, command, run);
  writing.end();
}

}  // namespace

Verb events_verb() {
  return {
      .name = "stem events",
      .summary = "Find the electrons of each scan position in the raw data of a Timepix3 detector",
      .details =
          "Reads the words of a TPX3 file (pixel, time and time over threshold of each hit, edges of the TDC) on one "
          "clock without wraps, or the records of a .t3p file, which have no edges, joins hits of pixels that touch "
          "into electrons, and gives each electron the position "
          "at which the probe was. What the file does not say are " +
          setting("dwell") + " and " + setting("scan_shape") +
          "; that the edges of an input of the TDC begin the lines of the scan is seen from their distance.\n\n"
          "The file is read once, in blocks: memory does not depend on its size. The result is a list of pixels for "
          "each position. Electrons before and after the scan and in "
          "flybacks are counted, and a dwell or a scan shape that does not fit the file is named.",
      .examples =
          {{"sonde stem events in.tpx3 --dwell 1us --scan-shape 512x512 -o events.h5",
            "Electrons by position; lines begin at edges of the TDC where the file has them"},
           {"sonde stem events in.tpx3 --dwell 10us --scan-shape 256x256 --lines none --start hit --png sum.png",
            "A scan without a break from the first hit on, as a picture"},
           {"sonde stem events quad.tpx3 --dwell 2us --scan-shape 128x128 --chips quad.toml --cluster-time 0 "
            "-o hits.h5",
            "Four chips, and every hit by itself"}},
      .plans = true,
      .watched = Watched{},
      .invoke = invocation<EventsCommandOptions, run_events>};
}

}  // namespace sonde::stem
