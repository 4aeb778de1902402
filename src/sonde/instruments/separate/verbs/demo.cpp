// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/instruments/separate/verbs/demonstrate.h"
#include "sonde/instruments/separate/verbs/verbs.h"

namespace sonde::separate {
namespace {

struct DemoOptions {
  std::string output;
  double seconds = 10;
  void describe(Fields& fields) {
    fields.add("output", output, {.help = "folder for everything that is made", .metavar = "DIR", .letter = 'o'});
    fields.add("seconds", seconds, {.help = "length of the loop", .unit = "s", .min = 2, .max = 600});
  }
};

void run_demo(const DemoOptions& options, Run& run) {
  if (options.output.empty())
    throw Error(ErrorKind::usage, setting("output") + " is missing")
        .hint("name a folder, " + setting("output", "demo-output"));
  if (run.dry_run()) return;
  make_folders(options.output);
  demonstrate_separation(options.output, options.seconds, run);
  if (!run.report().all_checks_pass())
    throw Error(ErrorKind::internal, "the stems do not agree with the simulator's truth")
        .hint("this is a defect: please report it");
}

}  // namespace

Verb demo_verb() {
  return {.name = "separate demo",
          .summary = "Render a drum loop, separate it with a small network, and score the stems",
          .details =
              "Nothing else is needed: the loop is that of `sonde separate simulate --backing`, and a network with 0.5 "
              "million parameters for kick, snare, hihat and other comes with the program. It was trained for ten "
              "minutes on synthetic patterns with sounds like those of the loop: it shows what the program does, not "
              "what networks can do with recordings. The folder gets the true stems (loop/), the separated ones with "
              "MIDI and scores (stems/), and a figure.",
          .examples = {{"sonde separate demo -o demo-output", "Everything lands in demo-output/"}},
          .invoke = invocation<DemoOptions, run_demo>};
}

}  // namespace sonde::separate
