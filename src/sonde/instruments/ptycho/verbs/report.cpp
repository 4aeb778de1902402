// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "sonde/engine/io/atomic_file.h"
#include "sonde/instruments/ptycho/report/advice.h"
#include "sonde/instruments/ptycho/report/report.h"
#include "sonde/instruments/ptycho/results/picture.h"
#include "sonde/instruments/ptycho/verbs/verbs.h"

namespace sonde::ptycho {
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

void run_report(const ReportOptions& options, Run& run) {
  const bool named = !options.output.empty(), writes = named || !run.gives_arrays();
  const std::string output =
      named ? options.output : fs::path(options.input).replace_extension().string() + "_report.html";
  // A name that was made up replaces pages of sonde only.
  const OutputRole role = named ? OutputRole{.what = page_role().what} : page_role();
  if (writes) require_place(output, role);
  run.require_room_for(options.input);
  const Result result = read_result(options.input);
  const Findings findings = findings_of(result);
  if (writes) write_report(output, result, findings, fs::path(options.input).filename().string(), role);
  Value& results = run.results();
  if (writes) results["files"].push_back(output);
  results["diagnoses"] = to_value(findings.diagnoses);
  results["advice"] = Value::list();
  for (const Advice& advice : advice_for(findings)) {
    Value& item = results["advice"].push_back(Value::object());
    item["what"] = advice.what;
    item["why"] = advice.why;
    item["settings"] = advice.settings;
  }
  if (writes) run.say("wrote     " + output);
}

}  // namespace

Verb report_verb() {
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

}  // namespace sonde::ptycho
