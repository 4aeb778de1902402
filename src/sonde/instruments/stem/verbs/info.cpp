// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sonde/engine/base/printable.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/stem/load/dataset.h"
#include "sonde/instruments/stem/results/describe.h"
#include "sonde/instruments/stem/verbs/load_text.h"
#include "sonde/instruments/stem/verbs/scan_input.h"
#include "sonde/instruments/stem/verbs/verbs.h"

namespace sonde::stem {
namespace {

struct InfoOptions {
  std::string input;
  bool metadata = false;
  LoadOptions load;
  void describe(Fields& fields) {
    fields.positional("input", input, {.help = "master file or another scan", .array = true});
    fields.add("metadata", metadata, {.help = "list every value the file holds"});
    load.describe_without({"scan_flip", "mask_file", "raw_big_endian", "hot_pixels", "on_error"}, fields);
  }
};

void run_info(const InfoOptions& options, Run& run) {
  const LoadPreview preview = preview_input(options.input, options.load, run);
  run.results() = preview_value(preview);
  say_acquisition(run, preview.acquisition);

  std::string table;
  for (const auto& [bin, bytes] : float32_table(preview.sizes))
    table += fmt::format("{}bin {}: {}", table.empty() ? "" : ", ", bin, format_bytes(bytes));
  run.say("as float32   " + table);
  run.say("load would use  " + preview.estimate.because);
  if (options.metadata) {
    run.results()["metadata"] = metadata_value(preview.acquisition);
    for (const auto& [path, value] : preview.acquisition.original_metadata)
      run.say(fmt::format("  {} = {}", printable(path), printable(value)));
  }
}

}  // namespace

Verb info_verb() {
  return {.name = "stem info",
          .summary = "Say what a scan holds and what loading it would take",
          .examples = {{"sonde stem info scan_master.h5", "Scan shape, detector, calibration, memory for every bin"},
                       {"sonde stem info scan_master.h5 --metadata --json", "Everything the file says, as data"}},
          .invoke = invocation<InfoOptions, run_info>};
}

}  // namespace sonde::stem
