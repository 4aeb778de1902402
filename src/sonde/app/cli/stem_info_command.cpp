// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sonde/app/cli/commands.h"
#include "sonde/app/cli/stem_text.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/stem/load/dataset.h"
#include "sonde/instruments/stem/load/series.h"

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
  Value& results = context.results();
  results["acquisition"] = acquisition_value(preview.acquisition);
  say_acquisition(context, preview.acquisition);

  Value& memory = results["float32_bytes_by_det_bin"];
  std::string table;
  for (const auto& [bin, bytes] : stem::float32_table(preview.sizes)) {
    memory[std::to_string(bin)] = bytes;
    table += fmt::format("{}bin {}: {}", table.empty() ? "" : ", ", bin, format_bytes(bytes));
  }
  context.say("as float32   " + table);
  results["estimate"]["det_bin"] = preview.estimate.det_bin;
  results["estimate"]["layout"] = stem::layout_name(preview.estimate.layout);
  results["estimate"]["resident_bytes"] = preview.estimate.resident_bytes;
  results["estimate"]["predicted_peak_bytes"] = preview.estimate.predicted_peak_bytes;
  context.say("load would use  " + preview.estimate.because);
  if (options.metadata) {
    results["metadata"] = Value::object();
    for (const auto& [path, value] : preview.acquisition.original_metadata) {
      results["metadata"][path] = value;
      context.say(fmt::format("  {} = {}", path, value));
    }
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
