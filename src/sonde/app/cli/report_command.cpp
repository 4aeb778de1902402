// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/cli/commands.h"
#include "sonde/engine/report/compare.h"

namespace sonde::cli {
namespace {

struct ShowOptions {
  std::string file;
  void describe(Fields& fields) { fields.positional("file", file, {.help = "report that --report wrote"}); }
};

void run_show(const ShowOptions& options, Run& run) {
  Value report = read_report(options.file);
  run.say(report_text(report));
  run.results() = std::move(report);
}

struct CompareOptions {
  std::string before, after;
  double floor = 0.03;
  void describe(Fields& fields) {
    fields.positional("before", before, {.help = "report of the first run"});
    fields.positional("after", after, {.help = "report of the second run"});
    fields.add("floor", floor,
               {.help = "relative change that two runs may show without any reason", .min = 0, .max = 1});
  }
};

void run_compare(const CompareOptions& options, Run& run) {
  const Comparison comparison = compare_reports(read_report(options.before), read_report(options.after), options.floor);
  run.say(comparison_text(comparison));
  run.results() = comparison_value(comparison);
}

}  // namespace

Verb report_show_command() {
  return {.name = "report show",
          .summary = "Print a report as tables",
          .examples = {{"sonde report show run.json", "Phases, memory, choices, checks and results of one run"}},
          .invoke = invocation<ShowOptions, run_show>};
}

Verb report_compare_command() {
  return {.name = "report compare",
          .summary = "Tell what changed between two runs from what is noise",
          .details =
              "The typical time of a phase is the median of its calls after the first. A change counts when it is\n"
              "larger than three standard deviations of the difference of the two medians, estimated from the\n"
              "recorded spreads, and larger than --floor. Phases with fewer than four such calls are not judged.",
          .examples = {{"sonde report compare before.json after.json", "Compare two runs of one command"}},
          .invoke = invocation<CompareOptions, run_compare>};
}

}  // namespace sonde::cli
