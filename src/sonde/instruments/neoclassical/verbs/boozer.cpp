// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/instruments/neoclassical/boozer/transform.h"
#include "sonde/instruments/neoclassical/read/boozmn.h"
#include "sonde/instruments/neoclassical/verbs/solve_settings.h"
#include "sonde/instruments/neoclassical/verbs/verbs.h"

namespace sonde::neoclassical {
namespace {

struct BoozerOptions {
  std::string input, output;
  std::optional<Index> mboz, nboz;
  std::string s;
  void describe(Fields& fields) {
    fields.positional("input", input, {.help = "VMEC equilibrium", .metavar = "WOUT"});
    fields.add("output", output, {.help = "the Boozer file", .metavar = "BOOZMN.nc", .letter = 'o'});
    fields.add("mboz", mboz, {.help = "poloidal modes 0 to mboz - 1; unset: 6 mpol", .min = 1, .max = 1000});
    fields.add("nboz", nboz,
               {.help = "toroidal modes -nboz to nboz per field period; unset: 2 ntor", .min = 0, .max = 1000});
    fields.add("s", s,
               {.help = "surfaces, each moved to the nearest of the half mesh; empty: all of them",
                .metavar = "LIST",
                .check = require_numbers});
  }
};

void run_boozer(const BoozerOptions& options, Run& run) {
  if (options.output.empty())
    throw Error(ErrorKind::usage, "no " + setting("output")).hint("give " + setting("output", "boozmn.nc"));
  (void)require_ending(options.output, "boozmn files", {".nc"});
  require_place(options.output);
  take_processor(run);
  auto reading = run.report().phase("read");
  run.require_room_for(options.input);
  const Wout wout = read_wout(options.input);
  reading.end();
  BoozerResolution resolution = default_resolution(wout);
  if (options.mboz) resolution.mboz = static_cast<int>(*options.mboz);
  if (options.nboz) resolution.nboz = static_cast<int>(*options.nboz);
  Notes notes;
  std::vector<double> surfaces = parse_numbers(options.s, setting("s"));
  surfaces = surfaces.empty() ? wout.s : on_half_mesh(wout, surfaces, notes);
  run.report().add_choice("surfaces", Value(surfaces.size()), fmt::format("of {}", wout.s.size()));
  run.report().add_choice("modes", Value(fmt::format("{} x {}", resolution.mboz, 2 * resolution.nboz + 1)),
                          options.mboz || options.nboz ? "as asked for" : "6 mpol and 2 ntor");
  if (run.dry_run()) return;
  auto transforming = run.report().phase("transform");
  const BoozerFile made = boozer_transform(wout, surfaces, resolution, notes);
  transforming.end();
  say_notes(notes, run);
  auto writing = run.report().phase("write");
  write_boozmn(options.output, made);
  writing.end();
  const double defect = *std::max_element(made.largest_defect.begin(), made.largest_defect.end());
  Value& results = run.results();
  results["files"].push_back(options.output);
  results["surfaces"] = surfaces.size();
  results["largest_defect"] = defect;
  run.say(fmt::format("wrote     {}, {} surfaces; |B| is met within {:.1e} of B_00", options.output, surfaces.size(),
                      defect));
  say_times(run);
}

}  // namespace

Verb boozer_verb() {
  return {.name = "neoclassical boozer",
          .summary = "Transform a VMEC equilibrium to Boozer angles",
          .details =
              "Writes what BOOZ_XFORM writes, readable by the same programs. Each surface checks itself: how well the "
              "harmonics give back |B|, and how constant sqrt(g) B^2 is; above 1e-4 a note asks for more modes.",
          .examples = {{"sonde neoclassical boozer wout.nc -o boozmn.nc", "Every surface of the half mesh"},
                       {"sonde neoclassical boozer wout.nc -o boozmn.nc --s 0.25,0.5,0.75 --mboz 40 --nboz 30",
                        "Three surfaces with more modes"}},
          .plans = true,
          .watched = Watched{},
          .invoke = invocation<BoozerOptions, run_boozer>};
}

}  // namespace sonde::neoclassical
