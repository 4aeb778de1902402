// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/stem/results/convert.h"
#include "sonde/instruments/stem/verbs/load_text.h"
#include "sonde/instruments/stem/verbs/scan_input.h"
#include "sonde/instruments/stem/verbs/verbs.h"

namespace sonde::stem {
namespace {

struct ConvertOptions {
  std::string input, target, output;
  LoadOptions load;
  void describe(Fields& fields) {
    fields.positional("input", input, {.help = "master file or another scan", .array = true});
    fields.positional("target", target, {.help = "the same as -o", .optional = true});
    fields.add("output", output,
               {.help = "FILE.npy, FILE.emd, FILE.h5 (EMD 1.0) or NAME_master.h5 (ARINA layout)",
                .metavar = "FILE",
                .letter = 'o'});
    load.describe(fields);
  }
};

/// The one name, however it was given.
std::string output_of(const ConvertOptions& options) {
  if (!options.output.empty() && !options.target.empty())
    throw Error(ErrorKind::usage,
                fmt::format("the output is named twice: {} and -o {}", options.target, options.output))
        .hint("leave one of them out");
  const std::string& output = options.output.empty() ? options.target : options.output;
  if (output.empty()) throw Error(ErrorKind::usage, "no output was named").hint("give -o FILE.npy (or .emd, .h5)");
  return output;
}

void run_convert(const ConvertOptions& options, Run& run) {
  const std::string output = output_of(options);
  require_conversion_name(output);
  const LoadOptions settings = options_to_convert(options.load);
  if (run.dry_run()) {
    run.report().add_choice("load", Value(preview_input(options.input, settings, run).estimate.because),
                            "the estimate before decoding");
    return;
  }
  Dataset dataset = load_input(options.input, settings, run);
  say_result(run, dataset);
  report_load(run, dataset);
  auto phase = run.report().phase("write");
  const std::vector<std::string> files = convert(dataset, output);
  phase.end();
  run.results()["files"] = files;
  for (const std::string& file : files) run.say("wrote     " + file);
}

}  // namespace

Verb convert_verb() {
  return {.name = "stem convert",
          .summary = "Write a scan, cropped and binned as asked, in another format",
          .examples = {{"sonde stem convert scan_master.h5 -o out.npy --det-bin auto --memory 8G",
                        "NPY with the smallest bin that fits"},
                       {"sonde stem convert scan.blo -o out.emd", "EMD 1.0 for py4DSTEM, HyperSpy or LiberTEM"},
                       {"sonde stem convert scan.mib -o scan_master.h5 --scan-shape 256,256",
                        "The compressed ARINA layout"}},
          .plans = true,
          .watched = Watched{},
          .invoke = invocation<ConvertOptions, run_convert>};
}

}  // namespace sonde::stem
