// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "sonde/app/cli/commands.h"
#include "sonde/instruments/ptycho/report/advice.h"
#include "sonde/instruments/ptycho/report/report.h"

namespace sonde::cli {
namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  std::string input, output;
  void describe(Fields& fields) {
    fields.positional("input", input, {.help = "a result of `sonde ptycho run`"});
    fields.add(
        "output", output,
        {.help = "the page; empty: beside the result, RESULT_report.html", .metavar = "FILE.html", .letter = 'o'});
  }
};

void run_report(const ReportOptions& options, Context& context) {
  const ptycho::Result result = ptycho::read_result(options.input);
  const std::string output =
      options.output.empty() ? fs::path(options.input).replace_extension().string() + "_report.html" : options.output;
  const ptycho::Findings findings = findings_of(result);
  write_report(output, result, findings, fs::path(options.input).filename().string());
  Value& results = context.results();
  results["files"].push_back(output);
  results["diagnoses"] = to_value(findings.diagnoses);
  results["advice"] = Value::list();
  for (const ptycho::Advice& advice : advice_for(findings)) {
    Value& item = results["advice"].push_back(Value::object());
    item["what"] = advice.what;
    item["why"] = advice.why;
    item["settings"] = advice.settings;
  }
  context.say("wrote     " + output);
}

}  // namespace

Command ptycho_report_command() {
  return {.name = "ptycho report",
          .summary = "Write a page that shows and judges a reconstruction",
          .details =
              "One HTML file that needs nothing else: phase and amplitude with scale bars, probe modes, error "
              "curves, corrections of positions, resolution from two halves of the data (where the run made "
              "them), diagnoses with causes and remedies, what to try next, settings and provenance. `sonde "
              "ptycho run` writes the same page beside its result.",
          .examples = {{"sonde ptycho report result.h5", "result_report.html beside the result"},
                       {"sonde ptycho report result.h5 -o for_the_group.html", "Under another name"}},
          .invoke = invocation<ReportOptions, run_report>};
}

}  // namespace sonde::cli
