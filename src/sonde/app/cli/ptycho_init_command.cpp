// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "sonde/app/cli/commands.h"
#include "sonde/app/cli/ptycho_source.h"
#include "sonde/app/cli/terminal.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/instruments/ptycho/engines/engine.h"
#include "sonde/instruments/ptycho/run/run_file.h"

namespace sonde::cli {
namespace {

struct InitOptions {
  std::string input, output;
  std::vector<std::string> engine = {"rpie"};
  std::vector<std::string> set;
  void describe(Fields& fields) {
    fields.positional("input", input, {.help = "file with patterns"});
    fields.add("output", output, {.help = "the run file; empty prints it", .metavar = "FILE.toml", .letter = 'o'});
    fields.add("engine", engine, {.help = "an engine of the run, in order"});
    fields.add("set", set,
               {.help = "a setting to begin with, for instance geometry.energy_keV=200", .metavar = "TABLE.KEY=VALUE"});
  }
};

void run_init(const InitOptions& options, Context& context) {
  ptycho::RunFile run;
  for (const std::string& engine : options.engine) run.tables().append("engine", engine, "--engine");
  // Without it the power of the probe drifts at low dose, and R_I hardly shows it (specification 9).
  run.tables().append("constraint", "probe_power", "sonde ptycho init");
  for (const std::string& setting : options.set) run.tables().assign_text(setting);
  Tables& tables = run.tables();
  tables.assign("data", 0, "file", Value(std::filesystem::absolute(options.input).lexically_normal().string()), "",
                Origin::caller);
  if (ptycho::is_own_format(run.data)) {
    // What the file says of itself need not be repeated, but a reader sees it.
    const ptycho::Source source = ptycho::open_source(run.data);
    say_source(source, context);
    const auto known = [&](const char* key, const std::optional<double>& value) {
      if (value && !tables.find("geometry")->items[0].fields.is_set(key))
        tables.assign("geometry", 0, key, Value(*value), "", Origin::caller);
    };
    known("energy_keV", source.energy_kev);
    known("semiangle_mrad", source.semiangle_mrad);
    known("detector_mrad_per_px", source.mrad_per_px);
    known("detector_pixel_m", source.detector_pixel_m);
    known("distance_m", source.distance_m);
  }
  const std::string text = commented_run_file(run);
  if (options.output.empty()) return print_output(text);
  AtomicFile file(options.output);
  file.write(text);
  file.commit();
  context.results()["files"].push_back(options.output);
  context.say("wrote     " + options.output);
}

}  // namespace

Command ptycho_init_command() {
  return {.name = "ptycho init",
          .summary = "Write a run file for a measurement, with every key explained",
          .examples = {{"sonde ptycho init scan.cxi -o recon.toml", "A run file to edit"},
                       {"sonde ptycho init scan.h5 --engine dm --engine lsqml --set geometry.energy_keV=200 -o "
                        "recon.toml",
                        "Two engines, one after the other"}},
          .invoke = invocation<InitOptions, run_init>};
}

}  // namespace sonde::cli
