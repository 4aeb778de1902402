// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sonde/engine/base/run_files.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/instruments/stem/simulate/event_hits.h"
#include "sonde/instruments/stem/simulate/simulate.h"
#include "sonde/instruments/stem/verbs/verbs.h"

namespace sonde::stem {
namespace {

void show_plan(const SimulateOptions& options, Run& run) {
  const SimulationPlan plan = plan_simulation(options, run.host_budget());
  const double bytes = static_cast<double>(plan.frames) * static_cast<double>(plan.frame_bytes);
  const double ratio = sample_compression(options);
  const bool counting = options.sample == Sample::counting;
  Report& report = run.report();
  report.add_choice("frames", Value(plan.frames),
                    fmt::format("{} positions of {} pixels, {} before compression", options.scan_shape,
                                options.detector_shape, format_bytes(bytes)));
  report.add_choice(
      "files", Value(plan.data_files + (options.truth ? (counting ? 5 : 3) : 2)),
      fmt::format("master, {} with up to {} frames each, sidecar{}", plan.data_files, options.frames_per_file,
                  options.truth ? (counting ? ", dark and gain image, truth" : ", truth") : ""));
  report.add_choice("data files", Value(format_bytes(bytes / ratio)),
                    fmt::format("{:.1f} : 1 in a sample of frames", ratio));
  report.add_choice("frames at a time", plan.batch);
  run.show_memory(plan.memory, run.host_budget());
}

void run_events_simulation(SimulateOptions options, Run& run) {
  if (options.output == SimulateOptions{}.output) options.output = "hits.tpx3";
  require_place(options.output);
  (void)events_truth_path(options.output);
  const EventSimulationPlan plan = plan_events_simulation(options);
  if (run.dry_run()) {
    run.report().add_choice("electrons", Value(plan.electrons),
                            fmt::format("{} positions in {}", plan.positions, format_seconds(plan.duration_s)));
    run.report().add_choice("raw data", Value(format_bytes(plan.file_bytes)), "two words of 8 bytes an electron");
    return run.show_memory(plan.memory, run.host_budget());
  }
  auto phase = run.report().phase("simulate");
  const Simulated made = simulate_events(options, run.host_budget());
  phase.end();
  run.results()["files"] = made.files;
  run.results()["frames"] = made.frames;
  run.results()["counts_per_frame"] = made.counts_per_frame;
  for (const std::string& file : made.files) run.say("wrote     " + file);
  run.say(fmt::format("scan      {} positions of {}, {:.6g} electrons each", made.frames, options.dwell,
                      made.counts_per_frame));
}

void run_simulate(const SimulateOptions& options, Run& run) {
  run.require_named_output();
  if (options.output == SimulateOptions{}.output) note_made_up_names();
  if (options.sample == Sample::events) return run_events_simulation(options, run);
  require_place(options.output);
  (void)truth_path(options.output);
  if (options.sample == Sample::crystal)
    for (const std::string& file : options.crystal) run.require_room_for(file);
  if (run.dry_run()) return show_plan(options, run);
  auto phase = run.report().phase("simulate");
  const Simulated made = simulate(options, run.host_budget());
  phase.end();
  Value& results = run.results();
  results["files"] = made.files;
  results["frames"] = made.frames;
  results["counts_per_frame"] = made.counts_per_frame;
  results["compression"] = made.ratio;
  for (const std::string& file : made.files) run.say("wrote     " + file);
  run.say(fmt::format("scan      {} frames, {:.6g} counts each, compressed {:.1f} : 1", made.frames,
                      made.counts_per_frame, made.ratio));
}

}  // namespace

Verb simulate_verb() {
  return {.name = "stem simulate",
          .summary = "Write a scan whose every expected count is known",
          .details =
              "Nanoparticles on a thin film, seen by a detector that counts single electrons, in the layout of a "
              "DECTRIS ARINA acquisition: master, data files, the microscope's sidecar, bad pixels. Beside it the "
              "truth: what every detector should see, without the counting noise. Sample events gives the raw data of "
              "a Timepix3 detector, with every electron of the scan beside it.\n\n"
              "The same options give the same files, byte for byte.",
          .examples = {{"sonde stem simulate scan_master.h5", "128 x 128 positions of 192 x 192 pixels"},
                       {"sonde stem simulate low_master.h5 --dose 0.01 --seed 7", "A hundredth of the dose"},
                       {"sonde stem simulate beam_master.h5 --sample vacuum --disk-radius 30 --halo-length 25",
                        "The pattern of the benchmarks"},
                       {"sonde stem simulate film_master.h5 --sample disks --disk-radius 6 --detector-shape 128,128",
                        "Disks of a crystal that is strained beyond an interface"},
                       {"sonde stem simulate grains_master.h5 --sample crystal --crystal Au.cif --dose 4",
                        "Eight grains of gold with kinematic patterns"},
                       {"sonde stem simulate hits.tpx3 --sample events --scan-shape 64,64 --dwell 10us",
                        "Hits with their times, for stem events"}},
          .plans = true,
          .watched = Watched{},
          .invoke = invocation<SimulateOptions, run_simulate>};
}

}  // namespace sonde::stem
