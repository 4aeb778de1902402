// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sonde/engine/base/run_files.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/instruments/ptycho/scan/probe_support.h"
#include "sonde/instruments/ptycho/simulate/simulate.h"
#include "sonde/instruments/ptycho/verbs/verbs.h"

namespace sonde::ptycho {
namespace {

struct SimulateCommandOptions {
  std::string settings;
  SimulateOptions scan;
  void describe(Fields& fields) {
    fields.positional(
        "settings", settings,
        {.help = "TOML file with settings, the same as " + setting("config"), .metavar = "SIM.toml", .optional = true});
    scan.describe(fields);
  }
};

/// What decides whether such a scan can be reconstructed.
void tell_scan(const SimulateOptions& options, const Truth& truth, Run& run) {
  const Sampling& sampling = truth.sampling;
  const double diameter = probe_diameter(truth.probe, sampling);
  const double overlap = linear_overlap(options.scan_step_A, diameter);
  const Shape& object = truth.phase.shape();
  const auto frames = static_cast<double>(truth.positions_px.size());
  Report& report = run.report();
  report.add_choice(
      "object pixel", Value(fmt::format("{:.4g} A", sampling.pixel_col())),
      fmt::format("{} px to {} mrad at {} keV", options.detector_px, options.detector_mrad, options.energy_keV));
  report.add_choice("object", Value(object.text()), "layers, rows and columns that hold every window");
  report.add_choice("overlap", Value(overlap),
                    fmt::format("step {:.3g} A, probe {:.3g} A (99 % of its power)", options.scan_step_A, diameter));
  report.add_choice("patterns",
                    Value(format_bytes(frames * static_cast<double>(sampling.rows * sampling.cols) *
                                       static_cast<double>(size_bytes(options.dtype)))),
                    fmt::format("{} of {} x {} pixels", truth.positions_px.size(), sampling.rows, sampling.cols));
  run.results()["object_pixel_A"] = sampling.pixel_col();
  run.results()["overlap"] = overlap;
}

void run_simulate(const SimulateCommandOptions& options, Run& run) {
  const SimulateOptions& scan = options.scan;
  run.require_named_output();
  if (scan.output == SimulateOptions{}.output) note_made_up_names();
  require_place(scan.output);
  {
    const Reservation reserved =
        run.host_budget().reserve(simulation_bytes(scan), "simulating " + scan.output, "make the scan smaller");
    tell_scan(scan, truth_of(scan), run);
  }
  if (run.dry_run()) return;
  auto phase = run.report().phase("simulate");
  const Simulated made = simulate(scan, run.host_budget());
  phase.end();
  Value& results = run.results();
  results["files"].push_back(made.file);
  results["frames"] = made.frames;
  results["counts_per_frame"] = made.counts_per_frame;
  run.say("wrote     " + made.file);
  run.say(fmt::format("scan      {} patterns of {} x {} pixels, {:.6g} counts each, overlap {:.0f} %", made.frames,
                      scan.detector_px, scan.detector_px, made.counts_per_frame,
                      100 * results.find("overlap")->as_real()));
  run.say(fmt::format("next      sonde ptycho run {} -o result.h5", made.file));
}

}  // namespace

Verb simulate_verb() {
  return {
      .name = "ptycho simulate",
      .summary = "Write a ptychographic scan whose specimen and probe are known",
      .details =
          "Atoms on a lattice, some displaced or missing, an amorphous patch and a step; a probe with aberrations "
          "and partial coherence; positions with jitter and drift; a detector that counts single electrons and has "
          "dead pixels. The file says of itself what a microscope would: energy, angles, nominal positions, and a "
          "probe whose defocus is a little wrong. `sonde ptycho run` needs nothing else.\n\n"
          "What is unknown in an experiment is under /truth: object, probe and positions as they were. `sonde ptycho "
          "compare` judges results by it.\n\n"
          "The same settings give the same counts.",
      .examples = {{"sonde ptycho simulate -o scan.h5", "16 x 16 patterns of 64 x 64 pixels"},
                   {"sonde ptycho simulate -o wide.h5 --scan-shape 20,20 --scan-step-A 0.9", "Seven times the area"},
                   {"sonde ptycho simulate -o low.h5 --counts-per-frame 1e4 --lattice hexagonal",
                    "A hundredth of the dose on another lattice"},
                   {"sonde ptycho simulate -o hard.h5 --jitter-A 0.2 --occupancies 0.7,0.2,0.1 --dead-pixels 20",
                    "Positions that are wrong, three incoherent modes, dead pixels"},
                   {"sonde ptycho simulate sim.toml -o scan.h5 --seed 7", "Settings from a file, but for the seed"}},
      .plans = true,
      .watched = Watched{},
      .invoke = invocation<SimulateCommandOptions, run_simulate>};
}

}  // namespace sonde::ptycho
