// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/engine/run/run.h"
#include "sonde/instruments/maxwell/results/gprmax_result.h"
#include "sonde/instruments/maxwell/results/records_chart.h"
#include "sonde/instruments/maxwell/verbs/verbs.h"

namespace sonde::maxwell {
namespace {

/// FieldInfo::check.
void require_component(std::string_view text, std::string_view where) {
  for (const Component c : all_components)
    if (name(c) == text) return;
  throw Error(ErrorKind::usage, fmt::format("{}: \"{}\" is not a field component, Ex to Hz", where, text));
}

struct PlotOptions {
  std::string input, output, component;
  std::optional<Index> receiver, shot;
  void describe(Fields& fields) {
    fields.positional("input", input,
                      {.help = "traces of gprMax (.out), of one run or merged, or records (.h5) of a native model",
                       .metavar = "FILE"});
    fields.add("output", output, {.help = "the picture", .metavar = "FILE.png|.pdf|.svg", .letter = 'o'});
    fields.add("component", component,
               {.help = "field component, Ex to Hz; unset: all of an A-scan, the strongest E of a B-scan",
                .check = require_component});
    fields.add("receiver", receiver,
               {.help = "which receiver, from 1; unset: the first one of gprMax, of records all of a shot", .min = 1});
    fields.add("shot", shot, {.help = "which shot of records, from 1; unset: the first", .min = 1});
  }
};

Chart chart_of(const PlotOptions& options) {
  std::optional<Component> component;
  if (!options.component.empty()) component = parse_component(options.component);
  if (output_ending(options.input) == ".h5") {
    RecordsChoice choice{.component = component, .shot = options.shot.value_or(1) - 1};
    if (options.receiver) choice.receiver = *options.receiver - 1;
    return records_chart(read_observed_data(options.input), choice);
  }
  if (options.shot)
    throw Error(ErrorKind::usage, fmt::format("{}: traces of gprMax have no shots", options.input))
        .hint("leave out " + setting("shot"));
  return traces_chart(read_gprmax_output(options.input),
                      {.component = component, .receiver = options.receiver.value_or(1) - 1});
}

void run_plot(const PlotOptions& options, Run& run) {
  (void)require_ending(options.output, "charts", chart_endings());
  require_chart(options.output);
  run.require_room_for(options.input);
  const Chart chart = chart_of(options);
  for (const std::string& file : write_chart(options.output, chart).all()) {
    run.results()["files"].push_back(file);
    run.say("wrote     " + file);
  }
}

}  // namespace

Verb plot_verb() {
  return {.name = "maxwell plot",
          .summary = "Draw recorded traces: an A-scan, a B-scan of a merged file, or the gather of a shot",
          .details = "Reads what `sonde maxwell run` or gprMax wrote.",
          .examples = {{"sonde maxwell plot model.out -o ascan.png", "All components of the first receiver over time"},
                       {"sonde maxwell plot line_merged.out -o bscan.png --component Ez", "A line as a picture"},
                       {"sonde maxwell plot records.h5 --shot 4 -o gather.png", "All receivers of a shot"}},
          .invoke = invocation<PlotOptions, run_plot>};
}

}  // namespace sonde::maxwell
