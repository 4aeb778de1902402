// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/base/error.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/engine/run/run.h"
#include "sonde/instruments/maxwell/results/gprmax_result.h"
#include "sonde/instruments/maxwell/verbs/line_source.h"
#include "sonde/instruments/maxwell/verbs/run_parts.h"
#include "sonde/instruments/maxwell/verbs/verbs.h"

namespace sonde::maxwell {
namespace {

struct PlotOptions {
  std::string input, output;
  LineSource source;
  void describe(Fields& fields) {
    fields.positional("input", input,
                      {.help = "traces: of gprMax (one run or merged), of sonde, or of a field format",
                       .metavar = "FILE.out|.h5|.dzt|.dt1|.rd3|.rd7|.sgy"});
    fields.add("output", output, {.help = "the picture", .metavar = "FILE.png|.pdf|.svg", .letter = 'o'});
    source.describe(fields);
  }
};

void run_plot(const PlotOptions& options, Run& run) {
  (void)require_ending(options.output, "charts", chart_endings());
  require_chart(options.output);
  const Reservation reserved = reserve_traces(options.input, run);
  const LineFile kind = line_file(options.input);
  options.source.require_meant_for(kind, options.input, run);
  draw(has_runs(kind) ? traces_chart(read_model_traces(options.input), options.source.choice().of_runs())
                      : line_chart(options.source.read(options.input)),
       options.output, run);
}

}  // namespace

Verb plot_verb() {
  return {.name = "maxwell plot",
          .summary = "Draw traces, simulated or measured: an A-scan, a B-scan, or the gather of a shot",
          .details =
              "Reads what `sonde maxwell run`, `sonde maxwell convert` or gprMax wrote, and field files of GSSI "
              "(DZT), Sensors & Software (DT1), MALA (RD3, RD7) and SEG-Y.",
          .examples = {{"sonde maxwell plot model.out -o ascan.png", "All components of the first receiver over time"},
                       {"sonde maxwell plot line_merged.out -o bscan.png --component Ez", "A line as a picture"},
                       {"sonde maxwell plot records.h5 --shot 4 -o gather.png", "All receivers of a shot"},
                       {"sonde maxwell plot LINE01.DT1 -o line.png", "A measured line"}},
          .invoke = invocation<PlotOptions, run_plot>};
}

}  // namespace sonde::maxwell
