// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <optional>
#include <span>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/engine/io/png.h"
#include "sonde/instruments/stem/load/visit_frames.h"
#include "sonde/instruments/stem/phase/centres.h"
#include "sonde/instruments/stem/phase/corner_noise.h"
#include "sonde/instruments/stem/phase/phase_contents.h"
#include "sonde/instruments/stem/phase/phase_picture.h"
#include "sonde/instruments/stem/phase/phase_result.h"
#include "sonde/instruments/stem/results/output_path.h"
#include "sonde/instruments/stem/verbs/command_of.h"
#include "sonde/instruments/stem/verbs/load_text.h"
#include "sonde/instruments/stem/verbs/scan_input.h"
#include "sonde/instruments/stem/verbs/verbs.h"

namespace sonde::stem {
namespace {

struct PhaseCommandOptions {
  std::string input;
  std::string output, png;
  PhaseOptions phase;
  LoadOptions load;
  void describe(Fields& fields) {
    fields.positional("input", input, {.help = "a scan", .array = true});
    fields.add(
        "output", output,
        {.help = "write centres of mass, field and phase to this file", .metavar = "FILE.h5|.nc|.npz", .letter = 'o'});
    fields.add("png", png,
               {.help = "draw phase, deflections, curl and divergence into this picture", .metavar = "FILE.png"});
    phase.describe(fields);
    load.layout = LayoutChoice::file;  // sums are enough
    load.describe_without({"layout", "dtype", "rotation"}, fields);
  }
};

/// Everything that can be refused before a frame is read.
void check(const PhaseCommandOptions& options, Run& run) {
  if (options.png.empty()) run.require_output(options.output);
  if (!options.output.empty()) require_place(options.output);
  if (options.png.empty()) return;
  (void)require_ending(options.png, "pictures", {".png"});
  require_place(options.png);
}

/// A scan with its centres of mass. Their errors and a given threshold cost no other pass over the frames; one that is
/// found does.
struct MeasuredScan {
  Dataset dataset;
  Centres centres;
};

bool has_counts(const LoadPreview& preview) { return !is_float(preview.acquisition.stored); }

MeasuredScan measure(const std::string& input, const PhaseCommandOptions& options, bool counts, Run& run) {
  const CentreThreshold threshold = options.phase.centre_threshold();
  CentreSums sums(threshold.counts);
  Operation* const operation = &sums;
  const std::span<Operation* const> operations(&operation, 1);
  const bool beside = !threshold.automatic && (counts || threshold.counts);
  MeasuredScan scan{load_input(input, options.load, run, beside ? operations : std::span<Operation* const>()), {}};
  if (threshold.automatic) {
    sums = CentreSums(corner_noise(scan.dataset).threshold());
    visit_frames(scan.dataset, "centres of mass", operations);
  }
  if (beside || threshold.automatic)
    scan.centres = centres_of(scan.dataset, sums, options.phase.min_counts);
  else
    scan.centres.field = centre_field(scan.dataset, options.phase.min_counts);
  scan.centres.errors.found_threshold = threshold.automatic;
  return scan;
}

std::optional<VectorField> reference_centres(const PhaseCommandOptions& options, Run& run) {
  const std::string input = options.phase.reference();
  if (input.empty()) return std::nullopt;
  return measure(input, options, has_counts(preview_input(input, options.load, run)), run).centres.field;
}

void run_phase(const PhaseCommandOptions& options, Run& run) {
  check(options, run);
  options.phase.check();
  const LoadPreview preview = preview_input(options.input, options.load, run);
  (void)phase_scale(preview.acquisition.path, preview.acquisition.calibration, preview.estimate.det_bin,
                    options.load.scan_bin, options.phase);
  if (!options.phase.reference().empty()) (void)preview_input(options.phase.reference(), options.load, run);
  for (const std::string& file : {options.output, options.png})
    if (!file.empty()) require_not_input(file, preview.acquisition);
  if (run.dry_run()) {
    run.report().add_choice("load", Value(preview.estimate.because), "the estimate before decoding");
    MemoryPlan plan = preview.estimate.memory();
    const auto sums = static_cast<std::size_t>(preview.sizes.scan_rows * preview.sizes.scan_cols) * 5 * sizeof(double);
    plan.add("centres of mass", sums, "sums by position");
    plan.peak_bytes += sums;
    run.show_memory(plan, run.budget());
    return;
  }
  MeasuredScan scan = measure(options.input, options, has_counts(preview), run);
  const Dataset& dataset = scan.dataset;
  say_result(run, dataset);
  report_load(run, dataset);
  const std::optional<VectorField> reference = reference_centres(options, run);
  auto phase = run.report().phase("phase");
  const PhaseResult result = make_phase(std::move(scan.centres.field),
                                        phase_scale(dataset.acquisition().path, dataset.calibration(),
                                                    dataset.det_bin(), dataset.scan_bin(), options.phase),
                                        options.phase, reference, std::move(scan.centres.errors));
  phase.end();
  run.results()["phase"] = result.to_value();
  for (const std::string& line : result.lines()) run.say(line);
  for (const std::string& warning : result.warnings) log_warning(warning);
  const std::string command = command_of("stem phase", options, run, {"output", "png"});
  run.give(phase_contents(result, command), options.output);
  if (!options.output.empty()) run.say("wrote     " + options.output);
  if (options.png.empty()) return;
  write_png(options.png, phase_picture(result), command);
  run.say("wrote     " + options.png);
}

}  // namespace

Verb phase_verb() {
  return {.name = "stem phase",
          .summary = "Make the phase image of a scan from its centres of mass",
          .details =
              "The centre of mass of each pattern is the mean deflection of the beam, which is the gradient of the "
              "specimen's phase, averaged over the probe, divided by 2 pi. Frames are decoded once and not held. The "
              "rotation of the detector to the scan is that of least curl, and of the two that are half a turn apart "
              "the one that makes the specimen a hill of the phase; it is reported with its standard error, and a "
              "rotation or transposition that was given and does not fit the data is named. The integral is exact "
              "least squares (" +
              setting("method", "dct") +
              ") unless another is asked for.\n\n"
              "Results are maps over the scan with their units, and a map of the positions that count; missing ones "
              "are NaN.",
          .examples =
              {{"sonde stem phase scan_master.h5 -o phase.h5 --png phase.png", "All maps and a picture"},
               {"sonde stem phase scan_master.h5 --fit file:vacuum_master.h5 --rotation 12.5 --transpose 0 -o phase.h5",
                "Descan from a vacuum scan, orientation from an earlier one"},
               {"sonde stem phase scan_master.h5 --method ricom --kernel 20 -o phase.h5",
                "The picture that a live riCOM shows"},
               {"sonde stem phase scan.npy --units px --png phase.png", "Nothing is calibrated"}},
          .plans = true,
          .watched = Watched{},
          .invoke = invocation<PhaseCommandOptions, run_phase>};
}

}  // namespace sonde::stem
