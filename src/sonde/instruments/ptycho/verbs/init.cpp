// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/declared_size.h"
#include "sonde/instruments/ptycho/engines/engine.h"
#include "sonde/instruments/ptycho/run/reference.h"
#include "sonde/instruments/ptycho/run/run_file.h"
#include "sonde/instruments/ptycho/verbs/open_measurement.h"
#include "sonde/instruments/ptycho/verbs/verbs.h"

namespace sonde::ptycho {
namespace {

struct InitOptions {
  std::string input, output;
  std::vector<std::string> engine = {"gd"};  // near the best at every dose without any setting
  std::vector<std::string> set;
  void describe(Fields& fields) {
    fields.positional("input", input, {.help = "file with patterns"});
    fields.add("output", output, {.help = "the run file; empty prints it", .metavar = "FILE.toml", .letter = 'o'});
    fields.add("engine", engine, {.help = "an engine of the run, in order"});
    fields.add("set", set,
               {.help = "a setting to begin with, for instance geometry.energy_keV=200", .metavar = "TABLE.KEY=VALUE"});
  }
};

/// What the file says of itself need not be repeated, but a reader sees it. Returns the settings that are needed and
/// that nobody says.
std::set<std::string> take_what_is_known(const Source& source, RunFile& run_file) {
  std::set<std::string> missing;
  const Fields& geometry = run_file.tables().find("geometry")->items[0].fields;
  const auto known = [&](const char* key, const std::optional<double>& value, bool needed = false) {
    if (value && !geometry.is_set(key)) run_file.tables().assign("geometry", 0, key, Value(*value), "", Origin::caller);
    if (needed && !geometry.is_set(key)) missing.insert(std::string("geometry.") + key);
  };
  if (run_file.geometry.units == Units::pixel) {
    if (source.positions.empty()) known("scan_step_px", std::nullopt, true);
    return missing;
  }
  const ProbeType type = run_file.geometry.probe_type.value_or(source.probe_type.value_or(ProbeType::electron));
  known("energy_keV", source.energy_kev, true);
  if (type == ProbeType::electron) {
    known("semiangle_mrad", source.semiangle_mrad, source.probe.empty());
    const bool reciprocal = source.inv_a_per_px && !source.mrad_per_px;
    if (reciprocal) known("detector_inv_A_per_px", source.inv_a_per_px);
    const bool calibrated = run_file.geometry.detector_inv_a_per_px || run_file.geometry.object_pixel_a;
    known("detector_mrad_per_px", source.mrad_per_px, !calibrated);
  } else {
    known("detector_pixel_m", source.detector_pixel_m, true);
    known("distance_m", source.distance_m, true);
  }
  if (source.positions.empty()) {
    known("scan_step_A", source.step_a, !run_file.geometry.scan_step_px);
    if (!source.scan_shape) missing.insert("data.scan_shape");
  }
  return missing;
}

void run_init(const InitOptions& options, Run& run) {
  if (!options.output.empty()) require_place(options.output);
  RunFile run_file;
  for (const std::string& engine : options.engine) run_file.tables().append("engine", engine, setting("engine"));
  // Without it the power of the probe drifts at low dose, and R_I hardly shows it.
  run_file.tables().append("constraint", "probe_power", "sonde ptycho init");
  for (const std::string& setting : options.set) run_file.tables().assign_text(setting);
  Tables& tables = run_file.tables();
  tables.assign("data", 0, "file", Value(absolute_path(options.input).string()), "", Origin::caller);
  const Source source = open_measurement(run_file.data, run);
  require_list_fits(source.file, "positions", source.shape[0], sizeof(Point), run.host_budget().available_bytes());
  say_source(source, run);
  const std::string text = commented_run_file(run_file, take_what_is_known(source, run_file));
  if (options.output.empty()) return run.print(text);
  AtomicFile file(options.output);
  file.write(text);
  file.commit();
  run.results()["files"].push_back(options.output);
  run.say("wrote     " + options.output);
}

}  // namespace

Verb init_verb() {
  return {.name = "ptycho init",
          .summary = "Write a run file for a measurement, with every key explained",
          .details =
              "Every key of the run file is there with its meaning, and every constraint that could be added, "
              "commented out. What the measurement says of itself is filled in; what is needed and unknown is marked "
              "FILL IN.",
          .examples = {{"sonde ptycho init scan.cxi -o recon.toml", "A run file to edit"},
                       {"sonde ptycho init scan.h5 --engine dm --engine lsqml --set geometry.energy_keV=200 -o "
                        "recon.toml",
                        "Two engines, one after the other"}},
          .invoke = invocation<InitOptions, run_init>};
}

}  // namespace sonde::ptycho
