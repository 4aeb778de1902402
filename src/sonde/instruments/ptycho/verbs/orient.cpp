// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "sonde/engine/base/log.h"
#include "sonde/engine/base/setting.h"
#include "sonde/instruments/ptycho/orient/orient.h"
#include "sonde/instruments/ptycho/verbs/open_measurement.h"
#include "sonde/instruments/ptycho/verbs/resolve_settings.h"
#include "sonde/instruments/ptycho/verbs/verbs.h"

namespace sonde::ptycho {
namespace {

struct OrientCommandOptions {
  std::string input;
  std::vector<std::string> set;
  OrientOptions orient;
  void describe(Fields& fields) {
    fields.positional("input", input,
                      {.help = "run file (.toml), or the patterns, with " + setting("config") + " RUN.toml when needed",
                       .array = true});
    fields.add(
        "set", set,
        {.help = "one setting of the run file, for instance geometry.scan_step_A=0.4", .metavar = "TABLE.KEY=VALUE"});
    orient.describe(fields);
  }
};

double in_degrees(double radians) { return radians * 180 / std::numbers::pi; }

std::string number_text(double value) { return std::isfinite(value) ? fmt::format("{:.5f}", value) : "failed"; }

void say_orientation(const Orientation& found, const Run& run) {
  run.say(fmt::format("frames    {} from the middle of the scan", found.frames));
  for (const auto& [words, curl] : {std::pair("as it is", found.straight), std::pair("transposed", found.transposed)})
    run.say(fmt::format("deflection of the beam, scan {}: least curl at {:.1f} deg, {:.0f} % of it is curl", words,
                        in_degrees(curl.rotation), 100 * curl.curl));
  run.say(fmt::format("\n{:>4}  {:<9} {:>12}  {:>8}  {:>8}", "rank", "transpose", "rotation deg", "R_free", "R_I"));
  for (std::size_t i = 0; i < found.trials.size(); ++i) {
    const OrientTrial& trial = found.trials[i];
    run.say(fmt::format("{:>4}  {:<9} {:>12.1f}  {:>8}  {:>8}{}", i + 1, trial.transpose ? "true" : "false",
                        in_degrees(trial.rotation), trial.r_free ? number_text(*trial.r_free) : "-",
                        number_text(trial.r_intensity), trial.refined ? "  refined" : ""));
  }
}

Value value_of(const Orientation& found) {
  Value value;
  value["frames"] = found.frames;
  value["transpose"] = found.best().transpose;
  value["scan_rotation_deg"] = in_degrees(found.best().rotation);
  value["clear"] = found.clear();
  value["R_I_floor"] = found.floor;
  value["warnings"] = found.warnings;
  for (const auto& [words, curl] : {std::pair("straight", found.straight), std::pair("transposed", found.transposed)}) {
    value["deflection"][words]["rotation_deg"] = in_degrees(curl.rotation);
    value["deflection"][words]["curl"] = curl.curl;
  }
  for (const OrientTrial& trial : found.trials) {
    Value& item = value["trials"].push_back(Value::object());
    item["transpose"] = trial.transpose;
    item["scan_rotation_deg"] = in_degrees(trial.rotation);
    item["R_free"] = trial.r_free ? Value(*trial.r_free) : Value();
    item["R_I"] = std::isfinite(trial.r_intensity) ? Value(trial.r_intensity) : Value();
    item["refined"] = trial.refined;
  }
  return value;
}

void run_orient(const OrientCommandOptions& options, Run& run) {
  (void)run.device_for("orientations are tried on the CPU");
  RunFile run_file;
  resolve_settings(options.input, options.set, BareInput::any, run, run_file);
  Source source = open_measurement(run_file.data, run);
  say_source(source, run);
  auto phase = run.report().phase("orient");
  const Orientation found = find_orientation(run_file, std::move(source), options.orient, run.host_budget());
  phase.end();
  run.results() = value_of(found);
  run.results()["run_file"] = found.run_file_lines();
  say_orientation(found, run);
  if (!found.clear())
    log_warning(fmt::format(
        "another orientation is almost as good ({:.5f} against {:.5f}): transpose = {}, scan_rotation_deg = {:.1f}. "
        "Take more frames ({}) or iterations, and check defocus and scan step; half a turn can be found only by a "
        "defocused probe",
        found.rival()->score(), found.best().score(), found.rival()->transpose, in_degrees(found.rival()->rotation),
        setting("scan")));
  run.say("\nfor the run file:\n" + found.run_file_lines());
}

}  // namespace

Verb orient_verb() {
  return {
      .name = "ptycho orient",
      .summary = "Find out how the detector is turned and mirrored against the scan",
      .details =
          "A wrong orientation lets every reconstruction fail. Mirrors and quarter turns of the detector are the "
          "same as an exchange of rows and columns of the scan and a rotation; those of the settings are ignored.\n\n"
          "A specimen deflects the beam by the gradient of its phase, and gradients have no curl: that gives the "
          "angle for either handedness, but for quarter turns. Eight short reconstructions of the middle of the "
          "scan decide, ranked by R_free (R_I of frames that were left out), and a few more find the angle to a "
          "degree or two. The lines to paste into the run file come last.\n\n"
          "Energy, angles, scan step and about the right probe must be known: run file, " +
          setting("set") + ", or the file itself.",
      .examples = {{"sonde ptycho orient recon.toml", "With the measurement and the settings of a run file"},
                   {"sonde ptycho orient scan_master.h5 --set geometry.semiangle_mrad=20 --set probe.defocus_A=150",
                    "A scan whose calibration is in its file"},
                   {"sonde ptycho orient recon.toml --rotation-deg -12.5",
                    "The angle is known, mirrors and quarter turns are not"}},
      .own_config = true,
      .tables = [] { return RunFile().tables().outline(); },
      .watched = Watched{},
      .invoke = invocation<OrientCommandOptions, run_orient>};
}

}  // namespace sonde::ptycho
