// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <optional>

#include "sonde/app/cli/commands.h"
#include "sonde/app/cli/neoclassical_settings.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/instruments/neoclassical/results/charts.h"
#include "sonde/instruments/neoclassical/run/study_settings.h"

namespace sonde::cli {
namespace {

namespace nc = neoclassical;

struct ConvergenceOptions {
  RunFileFlags file;
  std::optional<double> nu_hat;
  nc::StudySettings study;
  void describe(Fields& fields) {
    file.describe(fields, "chart of the changes; empty: none", "FILE.png");
    study.describe(fields);
    fields.add("nu_hat", nu_hat, {.help = "case.nu_hat of the run file", .unit = "1/m"});
  }
};

void run_convergence(const ConvergenceOptions& options, Context& context) {
  nc::RunFile run;
  options.file.read(run);
  if (options.nu_hat) run.at.nu_hat = options.nu_hat;
  apply_solver_settings(run.solver, context);
  take_processor(context);
  if (!options.file.output.empty()) require_place(options.file.output);
  const nc::StudyOptions study = options.study.study();
  const nc::FieldAxis field = run.case_field();
  const PreparedSurface prepared =
      std::move(prepare_surfaces(run, {}, field.kind != nc::FieldKind::epsi_hat, context).front());
  const nc::Case at{run.case_nu(), field.epsi_hat(prepared.scale).front()};
  const nc::GridSpec grid = run.grid.spec();
  require_room(prepared.surface, grid, context);
  report_grid(grid, context);
  if (context.dry_run()) return;
  auto solving = context.report().phase("solve");
  const nc::Study made = convergence_study(prepared.surface, grid, at, study, run.solver.solver());
  solving.end();
  context.say("grid            refined  change    D11             D31             D33");
  const auto line = [&](const nc::GridSpec& g, const char* what, const std::string& change, const nc::Coefficients& c) {
    context.say(fmt::format("{:<15} {:<8} {:<9} {:<15.9g} {:<15.9g} {:.9g}",
                            fmt::format("{}x{}x{}", g.n_theta, g.n_zeta, g.n_xi), what, change, c.D11, c.D31, c.D33));
  };
  line(grid, "", "", made.start);
  Value& results = context.results();
  for (const nc::StudyRow& row : made.rows) {
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
  context.say(fmt::format("{} {}x{}x{} is good for {:.1e}", made.converged ? "converged" : "not yet  ",
                          made.grid.n_theta, made.grid.n_zeta, made.grid.n_xi, made.error));
  if (!options.file.output.empty())
    for (const std::string& picture :
         write_chart(options.file.output,
                     convergence_chart(made, fmt::format("{} at nu/v = {:.3g}", prepared.surface.source, at.nu_hat),
                                       options.study.tol))
             .pictures) {
      results["files"].push_back(picture);
      context.say("wrote     " + picture);
    }
  end_run(run, context);
  if (!made.converged)
    throw Error(ErrorKind::not_converged,
                fmt::format("the last refinements still change the coefficients by {:.1e}", made.error))
        .hint("more --steps, a finer grid to begin with, or a larger --tol");
}

}  // namespace

Command neoclassical_convergence_command() {
  return {.name = "neoclassical convergence",
          .summary = "Refine the grid until the coefficients stand still",
          .details =
              "Refines Legendre modes and angles one after the other by a third and tells how the coefficients move. A "
              "small residual, or exact Onsager symmetry, says nothing of convergence; this does. D31 needs most. Ends "
              "with status 7 when the tolerance is not reached.",
          .examples = {{"sonde neoclassical convergence analytic-demo --nu-hat 1e-3 --set grid.n_theta=9 --set "
                        "grid.n_zeta=9 --set grid.n_xi=12",
                        "From a coarse grid on"},
                       {"sonde neoclassical convergence run.toml --refine n_xi --tol 1e-4 -o study.png",
                        "Legendre modes only, with a chart"}},
          .plans = true,
          .invoke = invocation<ConvergenceOptions, run_convergence>};
}

}  // namespace sonde::cli
