// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/engine/io/png.h"
#include "sonde/instruments/stem/orient/orient_result.h"
#include "sonde/instruments/stem/verbs/analysis_page.h"
#include "sonde/instruments/stem/verbs/command_of.h"
#include "sonde/instruments/stem/verbs/scan_disks.h"
#include "sonde/instruments/stem/verbs/verbs.h"

namespace sonde::stem {
namespace {

struct OrientCommandOptions {
  std::string input;
  std::string output, calibration, png, ang, html;
  OrientOptions orient;
  void describe(Fields& fields) {
    fields.positional("input", input,
                      {.help = "a scan, or the file of its Bragg disks that sonde stem bragg wrote", .array = true});
    fields.add("output", output,
               {.help = "write orientations to this file", .metavar = "FILE.h5|.nc|.npz", .letter = 'o'});
    fields.add("png", png,
               {.help = "draw directions of the beam in colours, grains, and reliability", .metavar = "FILE.png"});
    fields.add("ang", ang, {.help = "write Euler angles for other programs", .metavar = "FILE.ang"});
    describe_calibration(calibration, fields);
    describe_page(html, fields);
    orient.describe(fields);
  }
};

/// Everything that can be refused before a file is read.
void check_outputs(const OrientCommandOptions& options, Run& run) {
  require_page(options.html);
  if (options.png.empty() && options.ang.empty() && options.html.empty()) run.require_output(options.output);
  if (options.orient.crystal.empty())
    throw Error(ErrorKind::usage, "no crystal was given").hint("give " + setting("crystal", "FILE.cif"));
  if (!options.png.empty()) (void)require_ending(options.png, "pictures", {".png"});
  if (!options.ang.empty()) (void)require_ending(options.ang, "orientations", {".ang"});
  for (const std::string& file : {options.output, options.png, options.ang})
    if (!file.empty()) require_place(file);
}

void run_orient(const OrientCommandOptions& options, Run& run) {
  check_outputs(options, run);
  std::vector<Crystal> crystals;
  for (const std::string& file : options.orient.crystal) {
    run.require_room_for(file);
    crystals.push_back(read_crystal(file));
  }
  if (run.dry_run() && is_scan(options.input, run)) return plan_scan_disks(options.input, options.calibration, run);
  const BraggVectors vectors = disks_of(options.input, options.calibration,
                                        std::array{options.output, options.png, options.ang, options.html}, run);
  if (run.dry_run()) return;
  auto phase = run.report().phase("orientations");
  const OrientResult result = make_orient(vectors, crystals, options.orient, run.host_budget());
  phase.end();
  run.results()["orient"] = result.to_value();
  if (!result.grains.empty()) run.results()["grains"] = result.grain_table();
  for (const Choice<std::string>& choice : result.choices)
    run.report().add_choice("orient", Value(choice.value), choice.because);
  for (const std::string& line : result.lines()) run.say(line);
  for (const std::string& warning : result.warnings) log_warning(warning);
  const std::string command = command_of("stem orient", options, run, {"output", "png", "ang", "html"});
  run.give(result.contents(command), options.output);
  if (!options.output.empty()) run.say("wrote     " + options.output);
  if (!options.png.empty()) {
    write_png(options.png, result.picture(), command);
    run.say("wrote     " + options.png);
  }
  if (!options.html.empty())
    write_page(
        {.title = "Orientations",
         .input = options.input,
         .figures = {picture_figure(result.picture(), "Directions of the beam in colours, grains, and reliability")},
         .lines = result.lines(),
         .warnings = result.warnings},
        options.html, command, run);
  if (!options.ang.empty()) {
    AtomicFile file(options.ang);
    file.write(result.ang());
    file.commit();
    run.say("wrote     " + options.ang);
  }
  if (result.failed())
    throw Error(ErrorKind::not_converged, options.input + ": more than 90 % of the positions have no orientation")
        .hint("look at the disks that were found, or give a larger " + setting("k_max"));
}

}  // namespace

Verb orient_verb() {
  return {
      .name = "stem orient",
      .summary = "Find the orientation of a crystal at every scan position",
      .details =
          "Of a scan the Bragg disks are found first. Compares the disks of every pattern with the kinematic "
          "patterns of a crystal along all zone axes, "
          "by sparse correlation in polar coordinates, and writes rotation matrices, beam directions and their "
          "reliability. Matrices take vectors along the detector's columns, rows and beam to the Cartesian axes of "
          "the crystal (x along a, z along c*).\n\n"
          "Where all disks are of one plane of the crystal, half a turn about the axis across it gives the same "
          "pattern with the opposite tilt: such positions are marked, with both orientations. Positions that touch "
          "with nearly one orientation form grains, with a mean orientation, spread and size; of two orientations that "
          "is kept which the grain has.\n\n"
          "Of several crystals each position has the one whose kinematic pattern shares most of the strength of the "
          "disks; peaks without a spot and spots without a peak both count against a crystal, so that one with many "
          "reflections is not preferred. Where two are equal within the phase margin the position is not decided.",
      .examples = {{"sonde stem orient film_master.h5 --crystal Au.cif -o orientation.h5",
                    "Of a scan: disks, and the size of a detector pixel where the file lacks it, are found first"},
                   {"sonde stem orient bragg.h5 --crystal Au.cif -o orientation.h5 --png orientation.png",
                    "Orientations of gold, and a map of the beam's direction"},
                   {"sonde stem orient bragg.h5 --crystal Au.cif --voltage 200 --q-pixel 0.0182 --ang gold.ang",
                    "With a calibration that the file lacks, for programs that read .ang"},
                   {"sonde stem orient bragg.h5 --crystal Au.cif --crystal Fe.cif -o phases.h5 --png phases.png",
                    "Which of two crystals each position is, with its orientation"},
                   {"sonde stem orient bragg.h5 --crystal Au.cif --matches 2 -o orientation.h5",
                    "Two crystals on top of each other"}},
      .plans = true,
      .watched = Watched{},
      .invoke = invocation<OrientCommandOptions, run_orient>};
}

}  // namespace sonde::stem
