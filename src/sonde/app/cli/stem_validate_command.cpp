// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "sonde/app/cli/commands.h"
#include "sonde/app/cli/stem_text.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/stem/load/series.h"

namespace sonde::cli {
namespace {

struct ValidateOptions {
  std::vector<std::string> input;
  bool decode = false;
  stem::SeriesOptions series;
  stem::LoadOptions load;
  void describe(Fields& fields) {
    fields.positional("input", input, {.help = "scans, or folders of *_master.h5"});
    fields.add("decode", decode, {.help = "decode every frame too, and list the broken ones"});
    series.describe(fields);
    load.describe(fields);
  }
};

/// Everything that is wrong with one scan.
void check_scan(const std::string& path, const ValidateOptions& options, Context& context, Problems& problems) {
  Value entry;
  entry["path"] = path;
  const std::size_t before = problems.errors().size();
  try {
    if (!options.decode) {
      const stem::LoadPreview preview = stem::preview_load(path, options.load, context.budget());
      context.say(fmt::format("ok    {}: {} frames in {} file{}, {} stored", path, preview.acquisition.frames,
                              preview.acquisition.files.size(), preview.acquisition.files.size() == 1 ? "" : "s",
                              format_bytes(static_cast<double>(preview.sizes.stored_bytes))));
      entry["frames"] = preview.acquisition.frames;
    } else {
      stem::LoadOptions load = options.load;
      load.layout = stem::LayoutChoice::file;
      load.on_error = stem::OnError::zero;
      load.hot_pixels = stem::BadPixelAction::none;
      const stem::Dataset dataset = stem::load(path, load, context.budget(), context.device());
      entry["frames"] = dataset.acquisition().frames;
      for (const stem::FailedFrame& frame : dataset.failed_frames())
        problems.add(Error(ErrorKind::bad_file, fmt::format("{}: frame {}: {}", path, frame.frame, frame.reason))
                         .hint("load with --on-error zero to leave such frames out"));
      if (dataset.failed_frames().empty())
        context.say(fmt::format("ok    {}: all {} frames decode", path, dataset.acquisition().frames));
    }
    entry["status"] = problems.errors().size() == before ? "ok" : "failed";
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted || error.kind() == ErrorKind::terminated) throw;
    if (error.problems().empty()) problems.add(error);
    for (const Error& problem : error.problems()) problems.add(problem);
    entry["status"] = "failed";
    entry["error"] = error.message();
  }
  context.results()["scans"].push_back(std::move(entry));
}

void run_validate(const ValidateOptions& options, Context& context) {
  context.print_results_of_failure();  // the list of problems is the result
  Problems problems;
  for (const std::string& path : stem::find_scans(options.input, options.series))
    check_scan(path, options, context, problems);
  context.results()["problems"] = Value::list();
  for (const Error& problem : problems.errors()) context.results()["problems"].push_back(problem.message());
  problems.throw_if_any(fmt::format("{} problems found", problems.errors().size()));
}

}  // namespace

Command stem_validate_command() {
  return {.name = "stem validate",
          .summary = "Check scans without loading them and list every problem at once",
          .examples = {{"sonde stem validate scan_master.h5", "Links, shapes, filters, frame counts, byte ranges"},
                       {"sonde stem validate DIR --decode", "Every frame of every scan in a folder"}},
          .invoke = invocation<ValidateOptions, run_validate>};
}

}  // namespace sonde::cli
