// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <optional>

#include "sonde/engine/base/setting.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/engine/io/png.h"
#include "sonde/instruments/stem/phase/phase_contents.h"
#include "sonde/instruments/stem/phase/phase_picture.h"
#include "sonde/instruments/stem/phase/phase_result.h"
#include "sonde/instruments/stem/verbs/analysis_page.h"
#include "sonde/instruments/stem/verbs/command_of.h"
#include "sonde/instruments/stem/verbs/scan_centres.h"
#include "sonde/instruments/stem/verbs/verbs.h"

namespace sonde::stem {
namespace {

/// Both verbs: a field by itself is the phase with no method of integration.
struct PhaseCommandOptions {
  std::string input;
  std::string output, png, html;
  PhaseOptions phase;
  LoadOptions load;
  void describe(Fields& fields) {
    const bool field = phase.method == IntegralMethod::none;
    fields.positional("input", input,
                      {.help = "a scan, or the file of its centres of mass that sonde stem com wrote", .array = true});
    fields.add("output", output,
               {.help = field ? "write centres of mass and the field of deflections to this file"
                              : "write centres of mass, field and phase to this file",
                .metavar = "FILE.h5|.nc|.npz",
                .letter = 'o'});
    fields.add("png", png,
               {.help = field ? "draw counts, deflections, curl and divergence into this picture"
                              : "draw phase, deflections, curl and divergence into this picture",
                .metavar = "FILE.png"});
    describe_page(html, fields);
    phase.describe(fields);
    load.layout = LayoutChoice::file;  // sums are enough
    load.describe_without({"layout", "dtype", "rotation"}, fields);
  }
};

struct CentreCommandOptions : PhaseCommandOptions {
  CentreCommandOptions() {
    phase.method = IntegralMethod::none;
    phase.units = PhaseUnit::px;
  }
};

bool only_field(const PhaseCommandOptions& options) { return options.phase.method == IntegralMethod::none; }

/// Everything that can be refused before a frame is read.
void check(const PhaseCommandOptions& options, Run& run) {
  if (options.png.empty() && options.html.empty()) run.require_output(options.output);
  if (!options.output.empty()) require_place(options.output);
  require_page(options.html);
  if (options.png.empty()) return;
  (void)require_ending(options.png, "pictures", {".png"});
  require_place(options.png);
}

void run_phase(const PhaseCommandOptions& options, Run& run) {
  check(options, run);
  const std::optional<PhaseResult> result = phase_of_input(options.input, options.phase, options.load,
                                                           std::array{options.output, options.png, options.html}, run);
  if (!result) return;
  run.results()[only_field(options) ? "com" : "phase"] = result->to_value();
  const std::string command =
      command_of(only_field(options) ? "stem com" : "stem phase", options, run, {"output", "png", "html"});
  run.give(phase_contents(*result, command), options.output);
  if (!options.output.empty()) run.say("wrote     " + options.output);
  if (!options.png.empty()) {
    write_png(options.png, phase_picture(*result), command);
    run.say("wrote     " + options.png);
  }
  if (options.html.empty()) return;
  const std::string shown = only_field(options) ? "Counts, deflections with their colours, curl and divergence"
                                                : "Phase, deflections with their colours, curl and divergence";
  write_page({.title = only_field(options) ? "Centres of mass" : "Phase",
              .input = options.input,
              .figures = {picture_figure(phase_picture(*result), shown)},
              .lines = result->lines(),
              .warnings = result->warnings},
             options.html, command, run);
}

void run_com(const CentreCommandOptions& options, Run& run) { run_phase(options, run); }

}  // namespace

Verb com_verb() {
  return {.name = "stem com",
          .summary = "Measure the centre of mass of each pattern, and the field of deflections",
          .details =
              "The centre of mass of each pattern is the mean deflection of the beam. Frames are decoded once and not "
              "held. What is taken away as its origin (" +
              setting("fit") +
              ") and how the detector is turned to the scan, as the file states it or as least curl says, is reported; "
              "the field is along the axes of the scan, with its curl and divergence. Standard errors are those that "
              "the counts give. sonde stem phase integrates the file.",
          .examples = {{"sonde stem com scan_master.h5 -o com.h5 --png com.png", "All maps and a picture"},
                       {"sonde stem phase com.h5 --method fourier -o phase.h5", "The phase of it, without the frames"},
                       {"sonde stem com scan_master.h5 --units mrad --threshold auto -o com.npz",
                        "Deflections in mrad, without the noise of dark pixels"},
                       {"sonde stem com scan_master.h5 --fit file:vacuum_com.h5 -o com.h5",
                        "Measured from the centres of mass of a vacuum scan"}},
          .plans = true,
          .watched = Watched{},
          .invoke = invocation<CentreCommandOptions, run_com>};
}

Verb phase_verb() {
  return {.name = "stem phase",
          .summary = "Make the phase image of a scan from its centres of mass",
          .details =
              "The centre of mass of each pattern is the mean deflection of the beam, which is the gradient of the "
              "specimen's phase, averaged over the probe, divided by 2 pi. Frames are decoded once and not held. The "
              "rotation of the detector to the scan is what the file states, else that of least curl, and of the two "
              "that are half a turn apart "
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
               {"sonde stem phase com.h5 --q-highpass 0.05 --method fourier -o phase.h5",
                "Another integral of centres of mass that sonde stem com measured"},
               {"sonde stem phase scan.npy --units px --png phase.png", "Nothing is calibrated"}},
          .plans = true,
          .watched = Watched{},
          .invoke = invocation<PhaseCommandOptions, run_phase>};
}

}  // namespace sonde::stem
