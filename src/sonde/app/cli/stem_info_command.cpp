// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sonde/app/cli/commands.h"
#include "sonde/app/cli/stem_text.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/stem/load/dataset.h"
#include "sonde/instruments/stem/results/describe.h"

namespace sonde::cli {
namespace {

struct InfoOptions {
  std::string input;
  bool metadata = false;
  stem::LoadOptions load;
  void describe(Fields& fields) {
    fields.positional("input", input, {.help = "master file or another scan"});
    fields.add("metadata", metadata, {.help = "list every value the file holds"});
    load.describe(fields);
  }
};

void run_info(const InfoOptions& options, Context& context) {
  const stem::LoadPreview preview = stem::preview_load(options.input, options.load, context.budget());
  context.results() = stem::preview_value(preview);
  say_acquisition(context, preview.acquisition);

  std::string table;
  for (const auto& [bin, bytes] : stem::float32_table(preview.sizes))
    table += fmt::format("{}bin {}: {}", table.empty() ? "" : ", ", bin, format_bytes(bytes));
  context.say("as float32   " + table);
  context.say("load would use  " + preview.estimate.because);
  if (options.metadata) {
    context.results()["metadata"] = stem::metadata_value(preview.acquisition);
    for (const auto& [path, value] : preview.acquisition.original_metadata)
      context.say(fmt::format("  {} = {}", path, value));
  }
}

}  // namespace

Command stem_info_command() {
  return {.name = "stem info",
          .summary = "Say what a scan holds and what loading it would take",
          .examples = {{"sonde stem info scan_master.h5", "Scan shape, detector, calibration, memory for every bin"},
                       {"sonde stem info scan_master.h5 --metadata --json", "Everything the file says, as data"}},
          .invoke = invocation<InfoOptions, run_info>};
}

}  // namespace sonde::cli
