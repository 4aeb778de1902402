// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/run/write_contents.h"
#include "sonde/instruments/maxwell/read/native_model.h"
#include "sonde/instruments/maxwell/run/crosshole.h"
#include "sonde/instruments/maxwell/run/run_file.h"
#include "sonde/instruments/maxwell/verbs/choose_grid.h"
#include "sonde/instruments/maxwell/verbs/demonstrate.h"
#include "sonde/instruments/maxwell/verbs/verbs.h"

namespace sonde::maxwell {
namespace {

/// FieldInfo::check.
void require_example(std::string_view text, std::string_view where) {
  if (!text.empty() && text != "crosshole")
    throw Error(ErrorKind::usage, fmt::format("{}: \"{}\" is not a known example; expected crosshole", where, text));
}

struct InitOptions {
  std::string input, output, accuracy;
  std::vector<std::string> set;
  std::string example;
  void describe(Fields& fields) {
    fields.positional("input", input, {.help = "native model to begin with", .metavar = "MODEL.h5", .optional = true});
    fields.add("output", output, {.help = "the run file; empty prints it", .metavar = "FILE.toml", .letter = 'o'});
    fields.add("example", example,
               {.help = "crosshole: the run file of an inversion, with the records that it needs beside it",
                .metavar = "NAME",
                .check = require_example});
    fields.add("set", set,
               {.help = "a setting to begin with, for instance model.eps_r=eps.npy", .metavar = "TABLE.KEY=VALUE"});
    describe_accuracy(fields, accuracy);
  }
};

/// The settings that a run needs and nobody says.
std::set<std::string> missing_of(const RunFile& file, const ExperimentDraft& known) {
  std::set<std::string> missing;
  const auto need = [&](const char* setting, bool there) {
    if (!there && !file.tables().is_set(setting)) missing.insert(setting);
  };
  need("model.eps_r", known.eps_r.has_value());
  need("model.spacing", !known.spacing.empty());
  need("survey.sources", known.sources.has_value());
  need("survey.receivers", known.receivers.has_value());
  need("source.f0", known.wavelet || known.amplitude || file.tables().is_set("source.file"));
  need("time.nt", known.steps || known.amplitude || file.tables().is_set("source.file"));
  return missing;
}

void write_run_file(const std::string& path, const std::string& text, Run& run) {
  AtomicFile made(path);
  made.write(text);
  made.commit();
  run.results()["files"].push_back(path);
  run.say("wrote     " + path);
}

void run_init(const InitOptions& options, Run& run) {
  if (!options.output.empty()) require_place(options.output);
  if (!options.example.empty()) {
    if (!options.input.empty() || !options.set.empty() || !options.accuracy.empty())
      throw Error(ErrorKind::usage, setting("example") + " is a run file of its own: it takes no model and no settings")
          .hint("change the file that it writes");
    return write_crosshole(options.output.empty() ? options.example + ".toml" : options.output, run);
  }
  RunFile file;
  Problems problems;
  for (const std::string& one : options.set) problems.collect([&] { file.tables().assign_text(one); });
  problems.throw_if_any("the command line has several problems");
  ExperimentDraft known;
  if (!options.input.empty()) {
    run.require_room_for(options.input);
    known = read_native_draft(options.input);
    file.tables().assign("model", 0, "file", Value(absolute_path(options.input).string()), "", Origin::caller);
  }
  if (!options.accuracy.empty()) {
    ModelOptions model;
    model.input = options.input;
    choose_grid(options.accuracy, model, file, run);
  }
  const std::string text = commented_run_file(file, missing_of(file, known));
  if (options.output.empty()) return run.print(text);
  write_run_file(options.output, text, run);
}

}  // namespace

void write_crosshole(const std::string& run_file, Run& run) {
  RunFile file;
  file.parse(crosshole_run_file(), "the example");
  const std::filesystem::path folder = std::filesystem::path(run_file).parent_path();
  const std::string records = (folder / file.data.file).string(), truth = (folder / file.data.true_model).string();
  for (const std::string& path : {records, truth}) require_place(path);
  Experiment experiment = make_experiment(file, {}, run.host_budget().available_bytes());
  write_contents(records, contents_of(crosshole_records(experiment, CrossholeGround::discs, 2, 8)));
  experiment.model = crosshole_model(experiment, CrossholeGround::discs);
  write_native_model(truth, experiment);
  for (const std::string& path : {records, truth}) {
    run.results()["files"].push_back(path);
    run.say("wrote     " + path);
  }
  write_run_file(run_file, crosshole_run_file(), run);
}

Verb init_verb() {
  return {.name = "maxwell init",
          .summary = "Write a run file for a radar model, with every key explained",
          .details =
              "Every key of the run file is there with its meaning. With a native model (HDF5) the file names it, and "
              "its tables replace what the model says. What a run needs and is unknown is marked FILL IN. " +
              setting("accuracy", "1%") +
              " writes the grid and the times of least work for that accuracy, as `sonde maxwell run` chooses them.",
          .examples = {{"sonde maxwell init -o run.toml", "A run file to fill in"},
                       {"sonde maxwell init model.h5 --set grid.order=8 -o run.toml", "For a native model"},
                       {"sonde maxwell init survey.h5 --accuracy 0.5% -o run.toml",
                        "With order, cells and time step for a phase velocity within 0.5 %"},
                       {"sonde maxwell init --example crosshole -o crosshole.toml",
                        "An inversion with its records, for `sonde maxwell fwi`"}},
          .invoke = invocation<InitOptions, run_init>};
}

}  // namespace sonde::maxwell
