// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "sonde/app/cli/commands.h"
#include "sonde/app/cli/neoclassical_settings.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/report/progress.h"
#include "sonde/instruments/neoclassical/results/field_chart.h"
#include "sonde/instruments/neoclassical/results/result_file.h"

namespace sonde::cli {
namespace {

namespace nc = neoclassical;

struct RunOptions {
  RunFileFlags file;
  std::optional<double> nu_hat, epsi_hat, er_hat, er_tilde, adapt_n_xi;
  bool include_modes = false, plot = false;
  void describe(Fields& fields) {
    file.describe(fields, "the result; in place of output.path", "FILE.nc|.h5|.npz");
    fields.add("nu_hat", nu_hat, {.help = "case.nu_hat of the run file", .unit = "1/m"});
    fields.add("epsi_hat", epsi_hat, {.help = "case.epsi_hat of the run file"});
    fields.add("er_hat", er_hat, {.help = "case.er_hat of the run file", .unit = "T"});
    fields.add("er_tilde", er_tilde, {.help = "case.er_tilde of the run file"});
    fields.add("adapt_n_xi", adapt_n_xi, {.help = "solver.adapt_n_xi of the run file", .min = 0});
    fields.add("include_modes", include_modes, {.help = "output.include_modes of the run file"});
    fields.add("plot", plot, {.help = "draw |B| on the surface beside the result"});
  }
};

/// Flags stand for settings; those of the electric field replace what the file says of it.
void take_flags(const RunOptions& options, nc::RunFile& run) {
  if (options.nu_hat) run.at.nu_hat = options.nu_hat;
  require_one_field(options.epsi_hat.has_value(), options.er_hat.has_value(), options.er_tilde.has_value());
  if (options.epsi_hat || options.er_hat || options.er_tilde) {
    run.at.epsi_hat = options.epsi_hat;
    run.at.er_hat = options.er_hat;
    run.at.er_tilde = options.er_tilde;
  }
  if (options.adapt_n_xi) run.solver.adapt_n_xi = options.adapt_n_xi;
  if (options.include_modes) run.output.include_modes = true;
  if (options.plot) run.output.plot = true;
  if (!options.file.output.empty()) run.output.path = options.file.output;
}

/// What ran where single precision was asked.
void tell_precision(const nc::Coefficients& made, Context& context) {
  context.report().add_choice(
      "precision", Value(std::string(name(made.precision))),
      made.precision == nc::Precision::f32_refine ? fmt::format("refined in {} steps", made.iterations)
      : made.iterations > 0 ? fmt::format("refinement came to a stop after {} steps", made.iterations)
                            : "the blocks are too ill-conditioned for single precision");
  context.say(fmt::format("precision {}, {} refinements", name(made.precision), made.iterations));
}

/// Whether D13 = -D31 is to hold: without stellarator symmetry it does at E = 0 only.
bool onsager_holds(const nc::Surface& surface, const nc::Case& at) { return surface.symmetric() || at.epsi_hat == 0; }

void tell(const nc::Coefficients& made, const nc::Surface& surface, const nc::Case& at, Context& context) {
  const nc::CoefficientUnits units = coefficient_units(surface);
  context.say(fmt::format("D11       {:.10g} {}", made.D11, units.D11));
  context.say(fmt::format("D31       {:.10g} {}", made.D31, units.D31));
  context.say(fmt::format("D13       {:.10g} {}", made.D13, units.D31));
  context.say(fmt::format("D33       {:.10g} m, {:.4g} of Spitzer's", made.D33, made.D33 / made.D33_spitzer));
  context.say(fmt::format("residual  {:.1e}, {}; per {}", made.residual,
                          onsager_holds(surface, at) ? fmt::format("Onsager {:.1e}", made.onsager_residual)
                                                     : "D13 is not -D31 with a field and without stellarator symmetry",
                          units.label));
  Value& results = context.results();
  for (const auto& [name, value] :
       {std::pair{"D11", made.D11}, std::pair{"D31", made.D31}, std::pair{"D13", made.D13}, std::pair{"D33", made.D33},
        std::pair{"D33_spitzer", made.D33_spitzer}, std::pair{"residual", made.residual},
        std::pair{"onsager_residual", made.onsager_residual}})
    results[name] = value;
  results["onsager_holds"] = onsager_holds(surface, at);
  results["radial_label"] = units.label;
  results["path"] = std::string(name(made.path));
  results["n_xi"] = made.n_xi;
  results["precision"] = std::string(name(made.precision));
  results["iterations"] = made.iterations;
}

void run_run(const RunOptions& options, Context& context) {
  nc::RunFile run;
  options.file.read(run);
  take_flags(options, run);
  report_settings(run, context);
  apply_solver_settings(run.solver, context);
  take_processor(context);
  const nc::GridSpec grid = run.grid.spec();
  (void)choose_lane(run.solver.precision, grid, 1, {.gpu = false}, context);
  const nc::FieldAxis field = run.case_field();
  const double nu_hat = run.case_nu();
  if (!run.output.path.empty()) nc::require_result_path(run.output.path);

  auto preparing = context.report().phase("prepare");
  const PreparedSurface prepared = std::move(
      prepare_surfaces(run, {}, {.scale = field.kind != nc::FieldKind::epsi_hat, .lengths = !run.output.path.empty()},
                       context)
          .front());
  const nc::Case at{nu_hat, field.epsi_hat(prepared.scale).front()};
  require_room(prepared.surface, grid, context);
  const nc::Plan plan = nc::Plan::prepare(prepared.surface, grid, run.solver.solver());
  preparing.end();
  report_grid(grid, context);
  report_case(at, field, prepared.surface, grid, context);
  const Choice<nc::Path> path = plan.path(at.epsi_hat);
  context.report().add_choice("path", Value(std::string(name(path.value))), path.because);
  const Index largest_n_xi = run.solver.adapt_n_xi ? run.solver.search()->most : grid.n_xi;
  const Reservation reserved = context.host_budget().reserve(
      plan.bytes() + plan.workspace_bytes(path.value, largest_n_xi) + plan.fallback_bytes(path.value), "one solve",
      "take a smaller grid, or solver.krylov_reuse = false");
  if (context.dry_run()) return;

  auto solving = context.report().phase("solve");
  // How many blocks there are is known but where Legendre modes are searched for, or other paths stand beside this one.
  const bool known = !run.solver.adapt_n_xi && path.value != nc::Path::quasidefinite;
  std::optional<ProgressMeter> progress(std::in_place, "solving", known ? grid.n_xi + 1 : 0, "blocks");
  nc::Plan::Workspace workspace = plan.workspace([&progress] {
    if (progress) progress->advance();
  });
  nc::Coefficients made;
  std::optional<double> error_of_n_xi;
  if (const auto search = run.solver.search()) {
    const nc::Adapted adapted = solve_adapted(plan, at, *search, workspace);
    if (!adapted.converged)
      throw Error(ErrorKind::not_converged,
                  fmt::format("{} Legendre modes leave an error of {:.1e}", adapted.coefficients.n_xi, adapted.error))
          .hint("collisions are rare: refine the angles too, or accept a larger adapt_n_xi");
    error_of_n_xi = adapted.error;
    made = adapted.coefficients;
  } else {
    made = plan.solve(at, workspace);
  }
  progress.reset();
  solving.end();
  tell(made, prepared.surface, at, context);
  if (error_of_n_xi) {
    context.results()["error_of_n_xi"] = *error_of_n_xi;
    context.say(fmt::format("n_xi      {}, which leaves an error of {:.1e} by estimate", made.n_xi, *error_of_n_xi));
  }
  context.report().check("residual", made.residual, run.solver.tol);
  if (onsager_holds(prepared.surface, at)) context.report().check("Onsager symmetry", made.onsager_residual, 0.01);
  if (made.path == nc::Path::krylov)
    context.report().add_choice("weak field", Value(std::string(name(made.path))),
                                fmt::format("{} vectors over the factors of E_hat = 0 suffice", made.vectors));
  else if (made.path != path.value)
    context.say(
        fmt::format("note      solved by `{}`: `{}` left too large a residual", name(made.path), name(path.value)));
  if (run.solver.precision != nc::Precision::f64) tell_precision(made, context);
  if (run.output.path.empty()) return end_run(run, context);

  auto writing = context.report().phase("write");
  const std::optional<nc::Modes> modes = run.output.include_modes ? std::optional(plan.modes(workspace)) : std::nullopt;
  const std::optional<double> er_hat =
      prepared.scale.er_hat ? std::optional(at.epsi_hat / *prepared.scale.er_hat) : std::nullopt;
  NetcdfContents contents = run_contents(prepared.surface, plan, at, er_hat, made, modes, provenance_of(run, context));
  // As n_xi, which is what the search took: of no meaning to a solve without one.
  if (error_of_n_xi) contents.add("error_of_n_xi", *error_of_n_xi);
  nc::add_lengths(contents, prepared.a_b, prepared.R0);
  nc::write_result(run.output.path, contents);
  writing.end();
  context.results()["files"].push_back(run.output.path);
  context.say("wrote     " + run.output.path);
  if (!run.output.plot) return end_run(run, context);
  auto drawing = context.report().phase("plot");
  draw(field_chart(surface_field(prepared.surface, plan.surface())),
       std::filesystem::path(run.output.path).replace_extension().string() + "_b", context);
  drawing.end();
  end_run(run, context);
}

}  // namespace

Command neoclassical_run_command() {
  return {.name = "neoclassical run",
          .summary = "Solve one surface at one collisionality and electric field",
          .details =
              "Monoenergetic transport coefficients D11, D31, D13 and D33 of a flux surface: VMEC equilibria (wout), "
              "Boozer files (boozmn, .bc), DKES input, tables of harmonics, or harmonics in the run file. Onsager "
              "symmetry holds on every grid (discretisation = \"skew\"); collocation repeats MONKES and NTX point by "
              "point. An answer whose residual is above solver.tol is an error, not a number.",
          .examples = {{"sonde neoclassical run analytic-demo --nu-hat 1e-3", "A built-in surface, to the terminal"},
                       {"sonde neoclassical run wout_li383.nc --s 0.25 --nu-hat 1e-3 -o run.nc --plot",
                        "A surface of a VMEC equilibrium, with a picture of |B|"},
                       {"sonde neoclassical run run.toml --n-xi 120 --er-hat 1e-4",
                        "A run file with other Legendre modes and another field"},
                       {"sonde neoclassical run run.toml --adapt-n-xi 1e-3",
                        "As many Legendre modes as the collisionality needs"}},
          .pages = {{"neoclassical-run-file", "The run file of neoclassical transport", nc::run_file_reference}},
          .plans = true,
          .invoke = invocation<RunOptions, run_run>};
}

}  // namespace sonde::cli
