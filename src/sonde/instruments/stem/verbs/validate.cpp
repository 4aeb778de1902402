// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/load/series.h"
#include "sonde/instruments/stem/results/describe.h"
#include "sonde/instruments/stem/verbs/verbs.h"

namespace sonde::stem {
namespace {

struct ValidateOptions {
  std::vector<std::string> input;
  bool decode = false;
  SeriesOptions series;
  LoadOptions load;
  void describe(Fields& fields) {
    fields.positional("input", input, {.help = "scans, or folders of *_master.h5"});
    fields.add("decode", decode, {.help = "decode every frame too, and list the broken ones"});
    series.describe_names(fields);
    // The others change what a load makes of a scan, not whether it can be read.
    load.describe_without(
        {"scan_flip", "transpose_detector", "ignore_mask", "sentinel", "raw_big_endian", "voltage", "camera_length",
         "scan_step", "rotation", "calibration", "bin_mode", "edge", "dtype", "layout", "hot_pixels", "on_error"},
        fields);
  }
};

void run_validate(const ValidateOptions& options, Run& run) {
  run.keep_results_of_failure();  // the list of problems is the result
  Problems problems;
  for (const std::string& path : find_scans(options.input, options.series)) {
    Value entry = validate(path, options.load, options.decode, run.budget(), run.device(), problems);
    if (entry.find("status")->as_text() == "ok")
      run.say(fmt::format("ok    {}: {} frames{}", path, entry.find("frames")->as_whole(),
                          options.decode ? ", all of them decode" : ""));
    run.results()["scans"].push_back(std::move(entry));
  }
  run.results()["problems"] = Value::list();
  for (const Error& problem : problems.errors()) run.results()["problems"].push_back(problem.message());
  problems.throw_if_any(fmt::format("{} problems found", problems.errors().size()));
}

}  // namespace

Verb validate_verb() {
  return {.name = "stem validate",
          .summary = "Check scans without loading them and list every problem at once",
          .examples = {{"sonde stem validate scan_master.h5", "Links, shapes, filters, frame counts, byte ranges"},
                       {"sonde stem validate DIR --decode", "Every frame of every scan in a folder"}},
          .watched = Watched{},
          .invoke = invocation<ValidateOptions, run_validate>};
}

}  // namespace sonde::stem
