// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/run/write_charts.h"
#include "sonde/instruments/separate/run/ensemble.h"
#include "sonde/instruments/separate/verbs/verbs.h"

namespace sonde::separate {
namespace {

struct EnsembleOptions {
  std::vector<std::string> folders;
  std::string output, weights;
  Blend blend = Blend::mean;

  void describe(Fields& fields) {
    fields.positional("folders", folders,
                      {.help = "folders of stems of one song, each of another network", .metavar = "DIR"});
    fields.add("output", output, {.help = "folder of the stems that are made", .metavar = "DIR", .letter = 'o'});
    fields.choice("blend", blend,
                  {{"mean", Blend::mean}, {"median", Blend::median}, {"min", Blend::smallest}, {"max", Blend::largest}},
                  {.help = "what becomes of each sample: min and max take that of least and of greatest magnitude"});
    fields.add(
        "weights", weights,
        {.help = "how much each folder counts in mean and median; without it all count as much", .metavar = "W,W,..."});
  }

  [[nodiscard]] std::vector<double> folder_weights() const {
    if (weights.empty()) return std::vector<double>(folders.size(), 1.0);
    std::vector<double> made = parse_numbers(weights, setting("weights"));
    bool good = made.size() == folders.size();
    for (const double each : made) good = good && std::isfinite(each) && each > 0;
    if (!good) {
      throw Error(ErrorKind::usage, fmt::format("{} = {}; expected a number above 0 for each of {} folders",
                                                setting("weights"), weights, folders.size()));
    }
    if (blend == Blend::smallest || blend == Blend::largest) {
      throw Error(ErrorKind::usage, fmt::format("{} = {}: min and max take samples as they are; expected {} = mean or "
                                                "median",
                                                setting("weights"), weights, setting("blend")));
    }
    return made;
  }
};

void run_ensemble(const EnsembleOptions& options, Run& run) {
  if (options.folders.size() < 2) {
    throw Error(ErrorKind::usage, fmt::format("{} folder{}; expected two or more", options.folders.size(),
                                              options.folders.size() == 1 ? "" : "s"))
        .hint("name a folder of stems for each network");
  }
  if (options.output.empty()) {
    throw Error(ErrorKind::usage, setting("output") + " is missing")
        .hint("name the folder of the stems, " + setting("output", "out"));
  }
  const std::vector<double> weights = options.folder_weights();
  std::vector<std::string> left_out;
  const std::vector<EnsembleTask> tasks = ensemble_tasks(options.folders, options.output, left_out);
  if (tasks.empty()) {
    throw Error(ErrorKind::bad_input, fmt::format("{}: no stem is in all {} folders; expected files of one name",
                                                  join_words(options.folders), options.folders.size()));
  }
  std::size_t bytes = 0;
  for (const EnsembleTask& task : tasks) {
    const AudioInfo info = require_alike(task);
    bytes = std::max(bytes, blend_bytes(task.paths.size(), info));
    run.say(fmt::format("stem        {}: {} files of {} samples", task.stem, task.paths.size(), info.frames));
  }
  for (const std::string& each : left_out) run.say(fmt::format("left out    {}: not in every folder", each));
  const Reservation pieces = run.host_budget().reserve(bytes, "pieces of the files");
  if (run.dry_run()) return;
  make_folders(options.output);
  for (const EnsembleTask& task : tasks) require_place(task.output, {.what = "the stem"});
  const auto blending = run.report().phase("blend");
  for (const EnsembleTask& task : tasks) {
    const double peak = blend_files(task, options.blend, weights);
    sonde::Value& told = run.results()["stems"].push_back(sonde::Value::object());
    told["name"] = task.stem;
    told["path"] = task.output;
    told["peak"] = peak;
    wrote(task.output, run, text_column);
  }
}

}  // namespace

Verb ensemble_verb() {
  return {.name = "separate ensemble",
          .summary = "Blend the stems of several networks",
          .details =
              "Takes folders of stems of one song, made by `sonde separate run` or any other program, and blends the "
              "files of one name, without ending and case, sample by sample: their mean or median, with weights where "
              "some networks are better, or the sample of least or greatest magnitude. They must have one sample rate, "
              "length and number of channels. Written are WAV files of float32. Files are read in pieces: memory does "
              "not depend on their length.",
          .examples = {{"sonde separate ensemble first/song second/song -o both/song",
                        "The mean of what two networks make of a song"},
                       {"sonde separate ensemble a/song b/song c/song -o out --blend median",
                        "The median of three, which ignores what only one of them hears"},
                       {"sonde separate ensemble a/song b/song -o out --weights 2,1", "The first counts twice"}},
          .plans = true,
          .invoke = invocation<EnsembleOptions, run_ensemble>};
}

}  // namespace sonde::separate
