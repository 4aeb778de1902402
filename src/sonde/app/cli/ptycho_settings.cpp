// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/cli/ptycho_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/file.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/instruments/ptycho/read/source.h"

namespace sonde::cli {
namespace {

/// For a measurement without a run file: the engine that is near the best at every dose without any setting.
void set_defaults(ptycho::RunFile& run, Context& context) {
  run.tables().append("engine", "gd", "no run file");
  run.tables().append("constraint", "probe_power", "no run file");
  context.report().add_choice("engine", Value("gd"), "no run file is given");
}

/// Throws Error(bad_file) for a file that is missing, or is called HDF5 and is none: that, and not the missing run
/// file, is the fault.
void require_what_it_is_called(const std::string& path) {
  const File there(path);
  const std::string name = to_lower(path);
  if (name.ends_with(".h5") || name.ends_with(".hdf5")) (void)Hdf5File::open(path);
}

}  // namespace

void resolve_settings(const std::string& input, const std::vector<std::string>& set, BareInput bare, Context& context,
                      ptycho::RunFile& run) {
  const bool is_run_file = to_lower(input).ends_with(".toml");
  if (is_run_file && context.config_file())
    throw Error(ErrorKind::usage, "a run file is named twice: as the input and with --config");
  if (is_run_file || context.config_file()) {
    run.read(is_run_file ? input : *context.config_file());
  } else if (bare == BareInput::describes_itself) {
    const bool told =
        std::any_of(set.begin(), set.end(), [](const auto& each) { return each.starts_with("geometry."); });
    if (!told && !ptycho::describes_itself(input)) {
      require_what_it_is_called(input);
      throw Error(ErrorKind::usage, fmt::format("{} is no run file (.toml), and does not say all of itself", input))
          .hint(fmt::format("`sonde ptycho init {} -o recon.toml` writes a run file, or say what is missing with --set "
                            "geometry.energy_keV=200 and the like",
                            input));
    }
    set_defaults(run, context);
  }
  if (!is_run_file) run.data.file = input;
  Problems problems;
  for (const std::string& setting : set) problems.collect([&] { run.tables().assign_text(setting); });
  problems.throw_if_any("the command line has several problems");
  run.data.file = std::filesystem::absolute(run.data.file).lexically_normal().string();
}

}  // namespace sonde::cli
