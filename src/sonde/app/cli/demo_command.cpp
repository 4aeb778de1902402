// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>

#include "sonde/app/cli/commands.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/run_files.h"
#include "sonde/engine/run/instrument.h"

namespace sonde::cli {
namespace {

namespace fs = std::filesystem;

struct DemoOptions {
  std::string output = "demo-output";
  std::string scan_shape = "128,128";
  void describe(Fields& fields) {
    fields.add("output", output, {.help = "folder for everything that is made", .metavar = "DIR", .letter = 'o'});
    fields.add("scan_shape", scan_shape,
               {.help = "scan rows and columns of the simulated acquisition", .metavar = "ROWS,COLS"});
  }
};

void run_demo(const DemoOptions& options, Run& run) {
  const fs::path folder = options.output;
  make_folders(folder);
  note_made_up_names();  // only the folder was named
  int steps = 0;
  const auto step = [&](const std::string& what) {
    ++steps;
    run.say(fmt::format("{}{}. {}", steps > 1 ? "\n" : "", steps, what));
  };
  for (const Instrument* instrument : instruments())
    if (instrument->check_demo_folder != nullptr) instrument->check_demo_folder(folder);
  for (const Instrument* instrument : instruments())
    if (instrument->demonstrate != nullptr)
      instrument->demonstrate({.folder = folder, .scan_shape = options.scan_shape, .step = step}, run);
  const std::string report = (folder / "report.json").string();
  run.report().write(report);
  run.say("\nwrote     " + report);
  if (!run.report().all_checks_pass())
    throw Error(ErrorKind::internal, "the images or the reconstruction do not agree with the simulators' truth")
        .hint("this is a defect: please report it with " + report);
}

}  // namespace

Verb demo_command() {
  return {.name = "demo",
          .summary = "Simulate scans, make images and a reconstruction of them, and compare these with the truth",
          .examples = {{"sonde demo", "Everything lands in demo-output/"}},
          .invoke = invocation<DemoOptions, run_demo>};
}

}  // namespace sonde::cli
