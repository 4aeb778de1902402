// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/ranks/ranks.h"
#include "sonde/engine/run/join_ranks.h"
#include "sonde/engine/run/run.h"
#include "sonde/instruments/neoclassical/read/equilibrium.h"
#include "sonde/instruments/neoclassical/results/coefficient_chart.h"
#include "sonde/instruments/neoclassical/results/run_result.h"
#include "sonde/instruments/neoclassical/run/run_file.h"
#include "sonde/instruments/neoclassical/scan/crossover_map.h"
#include "sonde/instruments/neoclassical/scan/scan.h"

namespace sonde::neoclassical {

/// What commands that take a run file have in common: INPUT is that file (.toml), the file of a surface, or
/// analytic-demo, and some of its settings can be given by themselves.
struct RunInput {
  std::string input;
  std::vector<std::string> set;

  /// INPUT, what every command takes of a run file, and `more` of its settings ("case.nu_hat").
  void describe(Fields& fields, const std::vector<Tables::Lent>& more);
  /// Reads INPUT, then takes what was given to `run`, `set` last: `s` takes the place of every radius of the file, an
  /// electric field that of its other forms. `unused` are tables ("scan") and settings ("solver.adapt_n_xi") that the
  /// command does not look at: a run file for several commands may have them, who calls one may not give them. Throws
  /// Error(usage) for that, for what is given twice, and with all problems of `set` together.
  void read(neoclassical::RunFile& run_file, const std::vector<std::string>& unused, const Run& run) const;

 private:
  RunFile described_;  ///< what the settings are bound to
};

/// The processor of all but scans: a GPU that was asked for is an Error(not_supported).
void take_processor(Run& run);

/// Puts the resolved run file into the report and into what --dry-run shows: after the last flag has been applied.
void report_settings(const neoclassical::RunFile& run_file, Run& run);

/// One solve in the results: nu_hat, epsi_hat, the field as it was given, s where there is one, and the grid.
void report_case(const neoclassical::Case& at, const neoclassical::FieldAxis& field,
                 const neoclassical::Surface& surface, const neoclassical::GridSpec& grid, Run& run);

/// The GPU that solves points in batches, once it has solved as the CPU does; GPUs that do not are skipped, which
/// people and the report see. None where the CPU solves them: because of `why_not`, or since --device leaves no
/// sound GPU. Throws Error(not_supported) and Error(device) for a GPU that was asked for.
[[nodiscard]] std::optional<neoclassical::BatchDevice> take_batch_device(const std::string& why_not, Run& run);

/// What choose_compute_path() may not take.
struct PathLimits {
  bool gpu = true;  ///< the command has work for a GPU
  bool map = true;  ///< false: several processes share points, and their maps may differ
};

/// How `points` are solved (scan/crossover_map.h), where precision or device are left to `auto`: by the map of this
/// machine, else by rule. `precision` has a value afterwards. The report's choices tell which compute path and by what,
/// and a note why a map that is there is not used. Nothing is reported where nothing is left open.
[[nodiscard]] Choice<neoclassical::ComputePath> choose_compute_path(std::optional<neoclassical::Precision>& precision,
                                                                    const neoclassical::GridSpec& grid, Index points,
                                                                    const PathLimits& limits, Run& run);

/// Why no GPU is to solve points: `why_not`, else that `auto` has chosen another compute path; empty where one may.
[[nodiscard]] std::string why_no_gpu(std::string why_not, const Choice<neoclassical::ComputePath>& compute_path,
                                     const Run& run);

/// Reports how many points of a GPU's scan the CPU had to solve.
void say_batches(Index points, Index in_batches, Run& run);

/// [solver] threads and device, where the command line has not said otherwise.
void apply_solver_settings(const neoclassical::SolverSettings& solver, Run& run);

/// In the report, of several ranks.
inline constexpr const char* ranks_work = "work goes to the rank that is free";

/// Who solved how much, for people and for the report.
void say_ranks(const std::vector<Index>& points_of_rank, Run& run);

/// For the plan that is printed before work: the values of an axis, and where they come from.
void report_axis(const char* name, const std::vector<double>& values, const std::string& because, Run& run);
/// The same: which paths its points without and with electric field go, and why.
void report_paths(const neoclassical::Plan& plan, std::span<const neoclassical::Case> cases, Run& run);
/// The same: how many points of one radius at a time, and what they hold. Throws Error(budget) when not even one fits.
void plan_points(const neoclassical::Plan& plan, std::span<const neoclassical::Case> cases, const ScanOptions& options,
                 Run& run);

/// Seconds of every phase so far and the peak of memory, in one line for people.
void say_times(Run& run);

/// The end of a command with a run file: times, the table of phases when [logging] verbose asks for it, and the report
/// of [output] unless --report gives another.
void end_run(const neoclassical::RunFile& run_file, Run& run);

/// Reports how many points of a table single precision did not suffice for, in words and in the results.
void say_fallback(Index fell_back, Run& run);

/// require_chart() for what draw_coefficients() will write.
void require_coefficient_charts(const std::string& output, Index radii);

/// One chart per radius beside `output`, named after it (FILE_rho1 and so on when there are several).
void draw_coefficients(const neoclassical::CoefficientTables& tables, const std::string& output, Run& run);

/// `count` numbers from first to last, both included; one: the first.
[[nodiscard]] std::vector<double> evenly_spaced(double first, double last, Index count);

/// One surface with what turns electric fields into those of the solver.
struct PreparedSurface {
  neoclassical::Surface surface;
  neoclassical::FieldScale scale{};
  double rho = 0;  ///< NaN for a surface that is no part of an equilibrium
  /// What dimensionless coefficients need, in m and T m^2; 0 where it is not known or was not asked for.
  double a_b = 0, R0 = 0, psi_a = 0;
};

/// What of an equilibrium is wanted beside its surfaces: what turns a field into that of the solver, which must be
/// there; and a_b, R0 and psi_a, where the file says them.
struct Wanted {
  bool scale = false, lengths = false;
};

/// Notes what a grid does not see of a surface.
void say_resolution(const neoclassical::Surface& surface, const neoclassical::GridSpec& grid, Run& run);

/// Notes what the coefficients of a surface without stellarator symmetry lack.
void say_asymmetry(const neoclassical::Surface& surface, Run& run);

/// Throws Error(budget) for a grid that memory does not hold the operators of, before they are made.
void require_room(const neoclassical::Surface& surface, const neoclassical::GridSpec& grid, Run& run);

/// The surface of [surface], or one per radius of `rho` when there are some. Notes go to people and to the report.
/// Where lengths are wanted and the file gives them, electric fields have a scale too.
[[nodiscard]] std::vector<PreparedSurface> prepare_surfaces(const neoclassical::RunFile& run_file,
                                                            const std::vector<double>& rho, Wanted wanted, Run& run);

/// Notes of a reader, for people and for the report.
void say_notes(const neoclassical::Notes& notes, Run& run);

/// For the plan that is printed before work: the grid.
void report_grid(const neoclassical::GridSpec& grid, Run& run);

/// For the file of a result: settings, source and times as they are now.
[[nodiscard]] neoclassical::Provenance provenance_of(const neoclassical::RunFile& run_file, Run& run);

}  // namespace sonde::neoclassical
