// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/engine/run/run.h"
#include "sonde/engine/run/write_charts.h"
#include "sonde/instruments/maxwell/results/geometry_view.h"
#include "sonde/instruments/maxwell/results/gprmax_result.h"
#include "sonde/instruments/maxwell/results/snapshot_chart.h"
#include "sonde/instruments/maxwell/verbs/line_source.h"
#include "sonde/instruments/maxwell/verbs/run_parts.h"
#include "sonde/instruments/maxwell/verbs/verbs.h"

namespace sonde::maxwell {
namespace {

struct PlotOptions {
  std::string input, output;
  LineSource source;
  std::optional<Index> frame;
  void describe(Fields& fields) {
    fields.positional("input", input,
                      {.help = "traces of gprMax (one run or merged), of sonde, or of a field format; snapshots of "
                               "`sonde maxwell run`; or a model of gprMax itself (.in)",
                       .metavar = "FILE.out|.h5|.dzt|.dt1|.rd3|.rd7|.sgy|.in"});
    fields.add("output", output,
               {.help = "the picture; unset: FILE.png and FILE.pdf beside the input",
                .metavar = "FILE.png|.pdf|.svg",
                .letter = 'o'});
    source.describe(fields);
    fields.add("frame", frame,
               {.help = "which frame of snapshots, from 0; unset: up to six, evenly over the run", .min = 0});
  }
};

/// Throws for settings that the file has no use for.
void refuse(const std::string& path, const std::vector<std::pair<const char*, const char*>>& settings, const Run& run) {
  for (const auto& [key, has] : settings)
    if (run.given(key))
      throw Error(ErrorKind::usage, fmt::format("{} has no {}", path, has)).hint("leave out " + setting(key));
}

Chart chart_of_model(const PlotOptions& options, Run& run) {
  refuse(options.input, {{"component", "field components"}, {"receiver", "traces of receivers"}}, run);
  const GprmaxInput input = read_gprmax_input(options.input);
  const Reservation reserved =
      run.host_budget().reserve(gprmax_model_bytes(input), "the model of " + options.input, smaller_model());
  return model_chart(input, make_gprmax_model(input), gprmax_cell_materials(input));
}

Chart chart_of_frames(const PlotOptions& options, const Run& run) {
  refuse(options.input, {{"receiver", "traces of receivers"}}, run);
  return snapshot_chart(FrameReader(options.input),
                        {.component = options.source.choice().component, .frame = options.frame});
}

void run_plot(const PlotOptions& options, Run& run) {
  const std::string output = chart_place(options.output, options.input, run);
  const bool model = output_ending(options.input) == ".in", frames = !model && FrameReader::recognises(options.input);
  if (!frames) refuse(options.input, {{"frame", "frames"}}, run);
  if (model || frames) {
    refuse(options.input,
           {{"shot", "shots"}, {"channel", "channels"}, {"allow_truncated", "traces that can be cut off"}}, run);
    return draw(model ? chart_of_model(options, run) : chart_of_frames(options, run), output, run);
  }
  const Reservation reserved = reserve_traces(options.input, run);
  const LineFile kind = line_file(options.input);
  options.source.require_meant_for(kind, options.input, run);
  draw(has_runs(kind) ? traces_chart(read_model_traces(options.input), options.source.choice().of_runs())
                      : line_chart(options.source.read(options.input)),
       output, run);
}

}  // namespace

Verb plot_verb() {
  return {
      .name = "maxwell plot",
      .summary = "Draw traces, simulated or measured, snapshots of the fields, or a model",
      .details =
          "Reads what `sonde maxwell run`, `sonde maxwell convert` or gprMax wrote, and field files of GSSI "
          "(DZT), Sensors & Software (DT1), MALA (RD3, RD7) and SEG-Y: an A-scan, a B-scan, or the gather of a "
          "shot.\n\nSnapshots have one scale for all frames, which ends where 99.5 % of the samples are below it; in "
          "three dimensions they are cut in the middle of the axis with the fewest samples. A model is drawn by the "
          "numbers of its materials, in three dimensions in the planes through its first source.",
      .examples = {{"sonde maxwell plot model.out -o ascan.png", "All components of the first receiver over time"},
                   {"sonde maxwell plot line_merged.out -o bscan.png --component Ez", "A line as a picture"},
                   {"sonde maxwell plot records.h5 --shot 4 -o gather.png", "All receivers of a shot"},
                   {"sonde maxwell plot frames.h5 --frame 12 -o wave.png", "The field at one time"},
                   {"sonde maxwell plot model.in -o model.png", "The materials of a model"},
                   {"sonde maxwell plot LINE01.DT1 -o line.png", "A measured line"}},
      .invoke = invocation<PlotOptions, run_plot>};
}

}  // namespace sonde::maxwell
