// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sonde/app/cli/commands.h"
#include "sonde/app/cli/stem_text.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/stem/results/convert.h"

namespace sonde::cli {
namespace {

struct ConvertOptions {
  std::string input, output;
  stem::LoadOptions load;
  void describe(Fields& fields) {
    fields.positional("input", input, {.help = "master file or another scan"});
    fields.positional("output", output,
                      {.help = "FILE.npy, FILE.emd, FILE.h5 (EMD 1.0) or NAME_master.h5 (ARINA layout)"});
    load.describe(fields);
  }
};

void run_convert(const ConvertOptions& options, Context& context) {
  stem::require_conversion_name(options.output);
  if (context.dry_run()) {
    context.report().add_choice(
        "load", Value(stem::preview_load(options.input, options.load, context.budget()).estimate.because),
        "the estimate before decoding");
    return;
  }
  stem::LoadOptions load = options.load;
  // Frames go from file to file: the first pass finds type and bad pixels, the second writes.
  if (load.layout == stem::LayoutChoice::automatic && load.det_bin != "auto") load.layout = stem::LayoutChoice::file;
  stem::Dataset dataset = stem::load(options.input, load, context.budget(), context.device());
  report_load(context, dataset);
  auto phase = context.report().phase("write");
  const std::vector<std::string> files = stem::convert(dataset, options.output);
  phase.end();
  context.results()["files"] = files;
  for (const std::string& file : files) context.say("wrote     " + file);
}

}  // namespace

Command stem_convert_command() {
  return {
      .name = "stem convert",
      .summary = "Write a scan, cropped and binned as asked, in another format",
      .examples = {{"sonde stem convert scan_master.h5 out.npy --det-bin auto --memory 8G",
                    "NPY with the smallest bin that fits"},
                   {"sonde stem convert scan.blo out.emd", "EMD 1.0 for py4DSTEM, HyperSpy or LiberTEM"},
                   {"sonde stem convert scan.mib scan_master.h5 --scan-shape 256,256", "The compressed ARINA layout"}},
      .plans = true,
      .invoke = invocation<ConvertOptions, run_convert>};
}

}  // namespace sonde::cli
