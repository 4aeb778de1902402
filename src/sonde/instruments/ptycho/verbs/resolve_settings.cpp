// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/verbs/resolve_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/file.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/instruments/ptycho/read/source.h"

namespace sonde::ptycho {
namespace {

/// For a measurement without a run file: the engine that is near the best at every dose without any setting.
void set_defaults(RunFile& run_file, const Value& tables, Run& run) {
  if (tables.find("constraint") == nullptr) run_file.tables().append("constraint", "probe_power", "no run file");
  if (tables.find("engine") != nullptr) return;
  run_file.tables().append("engine", "gd", "no run file");
  run.report().add_choice("engine", Value("gd"), "no run file is given");
}

/// Throws Error(bad_file) for a file that is missing, or is called HDF5 and is none: that, and not the missing run
/// file, is the fault.
void require_what_it_is_called(const std::string& path) {
  const File there(path);
  const std::string name = to_lower(path);
  if (name.ends_with(".h5") || name.ends_with(".hdf5")) (void)Hdf5File::open(path);
}

}  // namespace

void resolve_settings(const std::string& input, const std::vector<std::string>& set, BareInput bare, Run& run,
                      RunFile& run_file) {
  const bool is_array = run.array(input) != nullptr;
  const bool is_run_file = !is_array && to_lower(input).ends_with(".toml");
  const Value& tables = run.tables();
  if (is_run_file && run.config_file())
    throw Error(ErrorKind::usage, "a run file is named twice: as the input and with " + setting("config"));
  if (is_run_file || run.config_file()) {
    run_file.read(is_run_file ? input : *run.config_file());
  } else if (bare == BareInput::describes_itself) {
    const bool told = tables.find("geometry") != nullptr || std::any_of(set.begin(), set.end(), [](const auto& each) {
                        return each.starts_with("geometry.");
                      });
    if (!told && (is_array || !describes_itself(input))) {
      if (is_array)
        throw Error(ErrorKind::usage, fmt::format("{}: an array does not say how it was taken", input))
            .hint("give a run file with " + setting("config") + ", or what is missing: geometry={\"energy_keV\": 200}");
      require_what_it_is_called(input);
      throw Error(ErrorKind::usage,
                  fmt::format("{} is not a run file (.toml), and does not contain all settings itself", input))
          .hint(fmt::format(
              "`sonde ptycho init {} -o recon.toml` writes a run file, or say what is missing, {} and the like", input,
              setting("geometry.energy_keV", "200")));
    }
    set_defaults(run_file, tables, run);
  }
  if (!is_run_file) run_file.data.file = input;
  run_file.tables().assign_over_file(tables, "the settings");
  run_file.tables().take(run.settings());
  Problems problems;
  for (const std::string& setting : set) problems.collect([&] { run_file.tables().assign_text(setting); });
  problems.throw_if_any("the command line has several problems");
  if (!is_array) run_file.data.file = absolute_path(run_file.data.file).string();
}

}  // namespace sonde::ptycho
