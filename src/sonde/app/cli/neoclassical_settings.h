// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonde/app/cli/command.h"
#include "sonde/instruments/neoclassical/read/equilibrium.h"
#include "sonde/instruments/neoclassical/results/run_result.h"
#include "sonde/instruments/neoclassical/run/run_file.h"

namespace sonde::cli {

/// The settings that a command line means: INPUT is a run file (.toml) or the file of a surface; `set` are texts for
/// Tables::assign_text(), which count most. Throws Error(usage), all problems of `set` together.
void resolve_settings(const std::string& input, const std::vector<std::string>& set, neoclassical::RunFile& run);

/// The processor of all of it: a GPU that was asked for is an Error(not_supported).
void take_processor(Context& context);

/// [solver] threads, where the command line has not said otherwise.
void apply_solver_settings(const neoclassical::SolverSettings& solver, Context& context);

/// Seconds of every phase so far and the peak of memory, in one line for people.
void say_times(Context& context);

/// One surface with what turns electric fields into those of the solver.
struct PreparedSurface {
  neoclassical::Surface surface;
  neoclassical::FieldScale scale;
  double rho = 0;  ///< NaN for a surface that is no part of an equilibrium
};

/// The surface of [surface], or one per radius of `rho` when there are some. Notes go to people and to the report.
[[nodiscard]] std::vector<PreparedSurface> prepare_surfaces(const neoclassical::RunFile& run,
                                                            const std::vector<double>& rho, bool needs_scale,
                                                            Context& context);

/// Notes of a reader, for people and for the report.
void say_notes(const neoclassical::Notes& notes, Context& context);

/// "path", with its reason, and the grid: for the plan that is printed before work.
void report_grid(const neoclassical::GridSpec& grid, Context& context);

/// For the file of a result: settings, source and times as they are now.
[[nodiscard]] neoclassical::Provenance provenance_of(const neoclassical::RunFile& run, Context& context);

}  // namespace sonde::cli
