// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/engine/run/run.h"
#include "sonde/instruments/maxwell/results/gprmax_result.h"
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
  Index receiver = 1;
  void describe(Fields& fields) {
    fields.positional("input", input, {.help = "traces of gprMax, of one run or merged", .metavar = "FILE.out"});
    fields.add("output", output, {.help = "the picture", .metavar = "FILE.png|.pdf|.svg", .letter = 'o'});
    fields.add("component", component,
               {.help = "field component, Ex to Hz; unset: all of an A-scan, the strongest E of a B-scan",
                .check = require_component});
    fields.add("receiver", receiver, {.help = "which receiver, from 1", .min = 1});
  }
};

void run_plot(const PlotOptions& options, Run& run) {
  (void)require_ending(options.output, "charts", chart_endings());
  require_chart(options.output);
  run.require_room_for(options.input);
  TracesChoice choice{.receiver = options.receiver - 1};
  if (!options.component.empty()) choice.component = parse_component(options.component);
  const Chart chart = traces_chart(read_gprmax_output(options.input), choice);
  for (const std::string& file : write_chart(options.output, chart).all()) {
    run.results()["files"].push_back(file);
    run.say("wrote     " + file);
  }
}

}  // namespace

Verb plot_verb() {
  return {.name = "maxwell plot",
          .summary = "Draw the traces of a gprMax result: an A-scan, or a B-scan of a merged file",
          .details = "Reads what `sonde maxwell run` or gprMax wrote.",
          .examples = {{"sonde maxwell plot model.out -o ascan.png", "All components of the first receiver over time"},
                       {"sonde maxwell plot line_merged.out -o bscan.png --component Ez", "A line as a picture"}},
          .invoke = invocation<PlotOptions, run_plot>};
}

}  // namespace sonde::maxwell
