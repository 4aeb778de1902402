// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/run/write_charts.h"
#include "sonde/instruments/stem/orient/crystal_result.h"
#include "sonde/instruments/stem/verbs/command_of.h"
#include "sonde/instruments/stem/verbs/verbs.h"

namespace sonde::stem {
namespace {

struct CrystalCommandOptions {
  std::string input;
  std::string output, plot;
  CrystalOptions crystal;
  void describe(Fields& fields) {
    fields.positional("input", input, {.help = "a crystal structure", .metavar = "FILE"});
    fields.add("output", output,
               {.help = "write reflections and pattern to this file", .metavar = "FILE.h5|.nc|.npz", .letter = 'o'});
    fields.add("plot", plot, {.help = "draw lines and pattern", .metavar = "FILE.png|.pdf|.svg"});
    crystal.describe(fields);
  }
};

void run_crystal(const CrystalCommandOptions& options, Run& run) {
  if (!options.output.empty()) run.require_output(options.output);
  if (!options.output.empty()) require_place(options.output);
  require_plot(options.plot);
  options.crystal.check();
  run.require_room_for(options.input);
  const CrystalResult result = describe_crystal(read_crystal(options.input), options.crystal);
  run.results()["crystal"] = result.to_value();
  for (const std::string& line : result.lines()) run.say(line);
  for (const std::string& warning : result.crystal.warnings) log_warning(warning);
  run.give(result.contents(command_of("stem crystal", options, run, {"output", "plot"})), options.output);
  if (!options.output.empty()) run.say("wrote     " + options.output);
  if (!options.plot.empty()) draw(result.chart(), options.plot, run);
}

}  // namespace

Verb crystal_verb() {
  return {.name = "stem crystal",
          .summary = "List the reflections of a crystal and compute its pattern",
          .details =
              "Reads cell, symmetry and sites from a CIF file, and lists the reflections up to " + setting("k_max") +
              " by families of equal ones, with their structure factors for electrons: sums of atomic factors "
              "(International Tables C, 4.3.2.2), kinematic and without a relativistic factor.\n\n"
              "With " +
              setting("zone") + " and " + setting("voltage") +
              " the spots of a beam along a zone axis too, each weakened by its distance from Ewald's sphere. Compare "
              "their lengths with those of a measured pattern to find its scale.",
          .examples = {{"sonde stem crystal Au.cif", "Cell, symmetry and the first families"},
                       {"sonde stem crystal Au.cif --k-max 1.2 --zone 0,1,1 --voltage 200 --plot pattern.png",
                        "The pattern along [011] at 200 kV"},
                       {"sonde stem crystal Si.cif --zone 1,1,1 --voltage 300 --precession 1 -o reflections.h5",
                        "A precessing beam; all reflections and spots in a file"}},
          .invoke = invocation<CrystalCommandOptions, run_crystal>};
}

}  // namespace sonde::stem
