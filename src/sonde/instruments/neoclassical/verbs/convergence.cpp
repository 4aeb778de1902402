// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/run/write_charts.h"
#include "sonde/instruments/neoclassical/results/study_result.h"
#include "sonde/instruments/neoclassical/run/study_settings.h"
#include "sonde/instruments/neoclassical/verbs/solve_settings.h"
#include "sonde/instruments/neoclassical/verbs/verbs.h"

namespace sonde::neoclassical {
namespace {

struct ConvergenceOptions {
  RunInput file;
  std::string output;
  StudySettings study;
  bool plot = false;
  void describe(Fields& fields) {
    file.describe(fields, {{"case.nu_hat"}, {"case.epsi_hat"}, {"case.er_hat"}, {"case.er_tilde"}});
    fields.add("output", output,
               {.help = "the study, or (.png, .pdf, .svg) only its chart; empty: neither",
                .metavar = "FILE.nc|.h5|.npz|.png",
                .letter = 'o'});
    study.describe(fields);
    fields.add("plot", plot, {.help = "draw the changes beside the stored study"});
  }
  [[nodiscard]] bool draws_alone() const { return is_chart_name(output); }
  [[nodiscard]] std::string chart_path() const {
    return draws_alone() ? output : std::filesystem::path(output).replace_extension().string();
  }
};

/// The file and the chart that were asked for.
void keep(const ConvergenceOptions& options, const StudyResult& result, const Surface& surface, const RunFile& run_file,
          Run& run) {
  const std::string output = options.draws_alone() ? "" : options.output;
  if (!output.empty() || run.gives_arrays()) {
    const auto writing = run.report().phase("write");
    run.give(study_contents(result, surface, provenance_of(run_file, run)), output);
  }
  if (!output.empty()) {
    wrote(output, run);
  }
  if (options.output.empty()) return;
  if (!options.draws_alone() && !options.plot) return;
  draw(study_chart(result), options.chart_path(), run);
}

void run_convergence(const ConvergenceOptions& options, Run& run) {
  RunFile run_file;
  options.file.read(
      run_file,
      {"scan", "solver.scan_batch_size", "solver.adapt_n_xi", "output.path", "output.include_modes", "output.plot"},
      run);
  report_settings(run_file, run);
  apply_solver_settings(run_file.solver, run);
  take_processor(run);
  const std::string& output = options.output;
  if (!options.draws_alone() && !output.empty()) run.require_output(output);
  if (options.draws_alone() || (options.plot && !output.empty())) require_chart(options.chart_path());
  const StudyOptions study = options.study.study();
  const FieldAxis field = run_file.case_field();
  auto preparing = run.report().phase("prepare");
  const PreparedSurface prepared =
      std::move(prepare_surfaces(run_file, {}, {.scale = field.kind != FieldKind::epsi_hat}, run).front());
  preparing.end();
  const Case at{run_file.case_nu(), field.epsi_hat(prepared.scale).front()};
  const GridSpec grid = run_file.grid.spec();
  (void)choose_compute_path(run_file.solver.precision, grid, 1, {.gpu = false}, run);
  require_room(prepared.surface, grid, run);
  report_grid(grid, run);
  report_case(at, field, prepared.surface, grid, run);
  if (run.dry_run()) return;
  auto solving = run.report().phase("solve");
  const Study made = convergence_study(prepared.surface, grid, at, study, run_file.solver.solver());
  solving.end();
  run.say("grid            refined  change    D11             D31             D33");
  const auto line = [&](const GridSpec& g, const char* what, const std::string& change, const Coefficients& c) {
    run.say(fmt::format("{:<15} {:<8} {:<9} {:<15.9g} {:<15.9g} {:.9g}",
                        fmt::format("{}x{}x{}", g.n_theta, g.n_zeta, g.n_xi), what, change, c.D11, c.D31, c.D33));
  };
  line(grid, "", "", made.start);
  Value& results = run.results();
  for (const StudyRow& row : made.rows) {
    line(row.grid, name(row.refined), fmt::format("{:.1e}", row.change), row.coefficients);
    Value& item = results["steps"].push_back(Value::object());
    item["n_theta"] = row.grid.n_theta;
    item["n_zeta"] = row.grid.n_zeta;
    item["n_xi"] = row.grid.n_xi;
    item["refined"] = std::string(name(row.refined));
    item["change"] = row.change;
    item["D11"] = row.coefficients.D11;
    item["D31"] = row.coefficients.D31;
    item["D33"] = row.coefficients.D33;
  }
  results["converged"] = made.converged;
  results["error"] = made.error;
  results["grid"] = fmt::format("{}x{}x{}", made.grid.n_theta, made.grid.n_zeta, made.grid.n_xi);
  run.say(fmt::format("{} {}x{}x{}; the last refinements changed the coefficients by {:.1e} in all",
                      made.converged ? "converged" : "not yet  ", made.grid.n_theta, made.grid.n_zeta, made.grid.n_xi,
                      made.error));
  run.say("          (a last change, no bound: what is not yet resolved in all directions together may be more)");
  keep(options, {made, grid, at, options.study.tol, prepared.surface.source}, prepared.surface, run_file, run);
  end_run(run_file, run);
  if (!made.converged)
    throw Error(ErrorKind::not_converged,
                fmt::format("the last refinements still change the coefficients by {:.1e}", made.error))
        .hint("more " + setting("steps") + ", a finer grid to begin with, or a larger " + setting("tol"));
}

}  // namespace

Verb convergence_verb() {
  return {
      .name = "neoclassical convergence",
      .summary = "Refine the grid until the coefficients no longer change",
      .details =
          "Refines Legendre modes and angles one after the other by a third and reports how the coefficients change. A "
          "small residual, or exact Onsager symmetry, says nothing of convergence; this does, though the last change "
          "is not a bound of the error. D31 needs most. Ends with status 7 when the tolerance is not reached.",
      .examples = {{"sonde neoclassical convergence analytic-demo --nu-hat 1e-3 --n-theta 9 --n-zeta 9 --n-xi 12",
                    "From a coarse grid on"},
                   {"sonde neoclassical convergence run.toml --refine n_xi --tol 1e-4 -o study.png",
                    "Legendre modes only, with a chart"},
                   {"sonde neoclassical convergence run.toml --er-tilde 1e-3 -o study.nc --plot",
                    "With a field, stored to be drawn again, and with its chart"}},
      .tables = [] { return RunFile().tables().outline(); },
      .plans = true,
      .watched = Watched{},
      .invoke = invocation<ConvergenceOptions, run_convergence>};
}

}  // namespace sonde::neoclassical
