// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "sonde/app/cli/commands.h"
#include "sonde/app/cli/neoclassical_settings.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/instruments/neoclassical/results/study_result.h"
#include "sonde/instruments/neoclassical/run/study_settings.h"

namespace sonde::cli {
namespace {

namespace nc = neoclassical;

struct ConvergenceOptions {
  RunFileFlags file;
  std::optional<double> nu_hat, epsi_hat, er_hat, er_tilde;
  nc::StudySettings study;
  bool plot = false;
  void describe(Fields& fields) {
    file.describe(fields, "the study, or (.png, .pdf, .svg) its chart alone; empty: neither", "FILE.nc|.h5|.npz|.png");
    study.describe(fields);
    fields.add("nu_hat", nu_hat, {.help = "case.nu_hat of the run file", .unit = "1/m"});
    fields.add("epsi_hat", epsi_hat, {.help = "case.epsi_hat of the run file"});
    fields.add("er_hat", er_hat, {.help = "case.er_hat of the run file", .unit = "T"});
    fields.add("er_tilde", er_tilde, {.help = "case.er_tilde of the run file"});
    fields.add("plot", plot, {.help = "draw the changes beside the stored study"});
  }
  /// Flags stand for settings; those of the electric field replace what the file says of it.
  void take_case(nc::RunFile& run) const {
    if (nu_hat) run.at.nu_hat = nu_hat;
    require_one_field(epsi_hat.has_value(), er_hat.has_value(), er_tilde.has_value());
    if (!epsi_hat && !er_hat && !er_tilde) return;
    run.at.epsi_hat = epsi_hat;
    run.at.er_hat = er_hat;
    run.at.er_tilde = er_tilde;
  }
  [[nodiscard]] bool draws_alone() const {
    const std::vector<std::string>& endings = chart_endings();
    const std::string ending = std::filesystem::path(file.output).extension().string();
    return std::find(endings.begin(), endings.end(), ending) != endings.end();
  }
};

/// The file and the chart that were asked for.
void keep(const ConvergenceOptions& options, const nc::StudyResult& result, const nc::Surface& surface,
          const nc::RunFile& run, Context& context) {
  const std::string& output = options.file.output;
  if (output.empty()) return;
  if (!options.draws_alone()) {
    const auto writing = context.report().phase("write");
    nc::write_result(output, study_contents(result, surface, provenance_of(run, context)));
    context.results()["files"].push_back(output);
    context.say("wrote     " + output);
  }
  if (!options.draws_alone() && !options.plot) return;
  const auto drawing = context.report().phase("plot");
  draw(study_chart(result), options.draws_alone() ? output : std::filesystem::path(output).replace_extension().string(),
       context);
}

void run_convergence(const ConvergenceOptions& options, Context& context) {
  nc::RunFile run;
  options.file.read(run);
  options.take_case(run);
  report_settings(run, context);
  apply_solver_settings(run.solver, context);
  take_processor(context);
  if (options.draws_alone())
    require_place(options.file.output);
  else if (!options.file.output.empty())
    nc::require_result_path(options.file.output);
  const nc::StudyOptions study = options.study.study();
  const nc::FieldAxis field = run.case_field();
  auto preparing = context.report().phase("prepare");
  const PreparedSurface prepared =
      std::move(prepare_surfaces(run, {}, {.scale = field.kind != nc::FieldKind::epsi_hat}, context).front());
  preparing.end();
  const nc::Case at{run.case_nu(), field.epsi_hat(prepared.scale).front()};
  const nc::GridSpec grid = run.grid.spec();
  (void)choose_lane(run.solver.precision, grid, 1, {.gpu = false}, context);
  require_room(prepared.surface, grid, context);
  report_grid(grid, context);
  report_case(at, field, prepared.surface, grid, context);
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
  context.say(fmt::format("{} {}x{}x{}; the last refinements changed the coefficients by {:.1e} in all",
                          made.converged ? "converged" : "not yet  ", made.grid.n_theta, made.grid.n_zeta,
                          made.grid.n_xi, made.error));
  context.say("          (a last change, no bound: what is not yet resolved in all directions together may be more)");
  keep(options, {made, grid, at, options.study.tol, prepared.surface.source}, prepared.surface, run, context);
  end_run(run, context);
  if (!made.converged)
    throw Error(ErrorKind::not_converged,
                fmt::format("the last refinements still change the coefficients by {:.1e}", made.error))
        .hint("more --steps, a finer grid to begin with, or a larger --tol");
}

}  // namespace

Command neoclassical_convergence_command() {
  return {
      .name = "neoclassical convergence",
      .summary = "Refine the grid until the coefficients stand still",
      .details =
          "Refines Legendre modes and angles one after the other by a third and tells how the coefficients move. A "
          "small residual, or exact Onsager symmetry, says nothing of convergence; this does, though the last change "
          "is no bound of the error. D31 needs most. Ends with status 7 when the tolerance is not reached.",
      .examples = {{"sonde neoclassical convergence analytic-demo --nu-hat 1e-3 --n-theta 9 --n-zeta 9 --n-xi 12",
                    "From a coarse grid on"},
                   {"sonde neoclassical convergence run.toml --refine n_xi --tol 1e-4 -o study.png",
                    "Legendre modes only, with a chart"},
                   {"sonde neoclassical convergence run.toml --er-tilde 1e-3 -o study.nc --plot",
                    "With a field, stored to be drawn again, and with its chart"}},
      .plans = true,
      .invoke = invocation<ConvergenceOptions, run_convergence>};
}

}  // namespace sonde::cli
