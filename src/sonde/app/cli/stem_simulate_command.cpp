// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sonde/app/cli/commands.h"
#include "sonde/instruments/stem/simulate/simulate.h"

namespace sonde::cli {
namespace {

void run_simulate(const stem::SimulateOptions& options, Context& context) {
  auto phase = context.report().phase("simulate");
  const stem::Simulated made = stem::simulate(options);
  phase.end();
  Value& results = context.results();
  results["files"] = made.files;
  results["frames"] = made.frames;
  results["counts_per_frame"] = made.counts_per_frame;
  results["compression"] = made.ratio;
  for (const std::string& file : made.files) context.say("wrote     " + file);
  context.say(fmt::format("scan      {} frames, {:.6g} counts each, compressed {:.1f} : 1", made.frames,
                          made.counts_per_frame, made.ratio));
}

}  // namespace

Command stem_simulate_command() {
  return {.name = "stem simulate",
          .summary = "Write a scan whose every expected count is known",
          .details =
              "Nanoparticles on a thin film, seen by a detector that counts single electrons, in the layout of a "
              "DECTRIS ARINA acquisition: master, data files, the microscope's sidecar, bad pixels. Beside it the "
              "truth: what every detector should see, without the counting noise.\n\n"
              "The same options give the same files, byte for byte.",
          .examples = {{"sonde stem simulate scan_master.h5", "128 x 128 positions of 192 x 192 pixels"},
                       {"sonde stem simulate low_master.h5 --dose 0.01 --seed 7", "A hundredth of the dose"},
                       {"sonde stem simulate beam_master.h5 --sample vacuum --disk-radius 30 --halo-length 25",
                        "The pattern of the benchmarks"}},
          .plans = false,
          .invoke = invocation<stem::SimulateOptions, run_simulate>};
}

}  // namespace sonde::cli
