// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "sonde/engine/base/error.h"
#include "sonde/engine/memory/memory_plan.h"
#include "sonde/engine/report/progress.h"
#include "sonde/engine/run/write_charts.h"
#include "sonde/instruments/neoclassical/results/field_chart.h"
#include "sonde/instruments/neoclassical/verbs/solve_settings.h"
#include "sonde/instruments/neoclassical/verbs/verbs.h"

namespace sonde::neoclassical {
namespace {

struct RunOptions {
  RunInput file;
  void describe(Fields& fields) {
    file.describe(fields, {{"output.path", "output", 'o'},
                           {"case.nu_hat"},
                           {"case.epsi_hat"},
                           {"case.er_hat"},
                           {"case.er_tilde"},
                           {"solver.adapt_n_xi"},
                           {"output.include_modes"},
                           {"output.plot"}});
  }
};

std::string field_chart_path(const std::string& output) {
  return std::filesystem::path(output).replace_extension().string() + "_b";
}

/// What ran where single precision was asked.
void tell_precision(const Coefficients& made, Run& run) {
  run.report().add_choice("precision", Value(std::string(name(made.precision))),
                          made.precision == Precision::f32_refine ? fmt::format("refined in {} steps", made.iterations)
                          : made.iterations > 0
                              ? fmt::format("refinement came to a stop after {} steps", made.iterations)
                              : "the blocks are too ill-conditioned for single precision");
  run.say(fmt::format("precision {}, {} refinements", name(made.precision), made.iterations));
}

/// Whether D13 = -D31 is to hold: without stellarator symmetry it does at E = 0 only.
bool onsager_holds(const Surface& surface, const Case& at) { return surface.symmetric() || at.epsi_hat == 0; }

void tell(const Coefficients& made, const Surface& surface, const Case& at, Run& run) {
  const CoefficientUnits units = coefficient_units(surface);
  run.say(fmt::format("D11       {:.10g} {}", made.D11, units.D11));
  run.say(fmt::format("D31       {:.10g} {}", made.D31, units.D31));
  run.say(fmt::format("D13       {:.10g} {}", made.D13, units.D31));
  run.say(fmt::format("D33       {:.10g} m, {:.4g} of Spitzer's", made.D33, made.D33 / made.D33_spitzer));
  run.say(fmt::format("residual  {:.1e}, {}; per {}", made.residual,
                      onsager_holds(surface, at) ? fmt::format("Onsager {:.1e}", made.onsager_residual)
                                                 : "D13 is not -D31 with a field and without stellarator symmetry",
                      units.label));
  Value& results = run.results();
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

void run_run(const RunOptions& options, Run& run) {
  RunFile run_file;
  options.file.read(run_file, {"scan", "solver.scan_batch_size"}, run);
  report_settings(run_file, run);
  apply_solver_settings(run_file.solver, run);
  take_processor(run);
  const GridSpec grid = run_file.grid.spec();
  (void)choose_compute_path(run_file.solver.precision, grid, 1, {.gpu = false}, run);
  const FieldAxis field = run_file.case_field();
  const double nu_hat = run_file.case_nu();
  if (!run_file.output.path.empty()) run.require_output(run_file.output.path);
  if (!run_file.output.path.empty() && run_file.output.plot) require_chart(field_chart_path(run_file.output.path));

  auto preparing = run.report().phase("prepare");
  const PreparedSurface prepared =
      std::move(prepare_surfaces(run_file, {},
                                 {.scale = field.kind != FieldKind::epsi_hat,
                                  .lengths = !run_file.output.path.empty() || run.gives_arrays()},
                                 run)
                    .front());
  const Case at{nu_hat, field.epsi_hat(prepared.scale).front()};
  require_room(prepared.surface, grid, run);
  const Plan plan = Plan::prepare(prepared.surface, grid, run_file.solver.solver());
  preparing.end();
  report_grid(grid, run);
  report_case(at, field, prepared.surface, grid, run);
  const Choice<Path> path = plan.path(at.epsi_hat);
  run.report().add_choice("path", Value(std::string(name(path.value))), path.because);
  const Index largest_n_xi = run_file.solver.adapt_n_xi ? run_file.solver.search()->most : grid.n_xi;
  MemoryPlan memory;
  memory.lasting_bytes +=
      memory.add("operators", plan.bytes(), fmt::format("on {} x {} points", grid.n_theta, grid.n_zeta));
  memory.lasting_bytes += memory.add("elimination", plan.workspace_bytes(path.value, largest_n_xi),
                                     fmt::format("{} Legendre modes", largest_n_xi));
  memory.lasting_bytes +=
      memory.add("other path", plan.fallback_bytes(path.value), "for a point that the first one cannot solve");
  memory.peak_bytes = memory.lasting_bytes;
  if (run.dry_run()) run.show_memory(memory, run.host_budget());
  const Reservation reserved = run.host_budget().reserve(memory.needed_bytes(), "one solve",
                                                         "take a smaller grid, or solver.krylov_reuse = false");
  if (run.dry_run()) return;

  auto solving = run.report().phase("solve");
  // How many blocks there are is known but where Legendre modes are searched for, or other paths stand beside this one.
  const bool known = !run_file.solver.adapt_n_xi && path.value != Path::quasidefinite;
  std::optional<ProgressMeter> progress(std::in_place, "solving", known ? grid.n_xi + 1 : 0, "blocks");
  Plan::Workspace workspace = plan.workspace([&progress] {
    if (progress) progress->advance();
  });
  Coefficients made;
  std::optional<double> error_of_n_xi;
  if (const auto search = run_file.solver.search()) {
    const Adapted adapted = solve_adapted(plan, at, *search, workspace);
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
  tell(made, prepared.surface, at, run);
  if (error_of_n_xi) {
    run.results()["error_of_n_xi"] = *error_of_n_xi;
    run.say(fmt::format("n_xi      {}, which leaves an error of {:.1e} by estimate", made.n_xi, *error_of_n_xi));
  }
  run.report().check("residual", made.residual, run_file.solver.tol);
  if (onsager_holds(prepared.surface, at)) run.report().check("Onsager symmetry", made.onsager_residual, 0.01);
  if (made.path == Path::krylov)
    run.report().add_choice("weak field", Value(std::string(name(made.path))),
                            fmt::format("{} vectors over the factors of E_hat = 0 suffice", made.vectors));
  else if (made.path != path.value)
    run.say(fmt::format("note      solved by `{}`: `{}` left too large a residual", name(made.path), name(path.value)));
  if (run_file.solver.precision != Precision::f64) tell_precision(made, run);
  if (run_file.output.path.empty() && !run.gives_arrays()) return end_run(run_file, run);

  auto writing = run.report().phase("write");
  const std::optional<Modes> modes =
      run_file.output.include_modes ? std::optional(plan.modes(workspace)) : std::nullopt;
  const std::optional<double> er_hat =
      prepared.scale.er_hat ? std::optional(at.epsi_hat / *prepared.scale.er_hat) : std::nullopt;
  Contents contents = run_contents(prepared.surface, plan, at, er_hat, made, modes, provenance_of(run_file, run));
  // As n_xi, which is what the search took: of no meaning to a solve without one.
  if (error_of_n_xi) contents.add("error_of_n_xi", *error_of_n_xi);
  add_lengths(contents, prepared.a_b, prepared.R0);
  run.give(contents, run_file.output.path);
  writing.end();
  if (run_file.output.path.empty()) return end_run(run_file, run);
  wrote(run_file.output.path, run);
  if (!run_file.output.plot) return end_run(run_file, run);
  draw(field_chart(surface_field(prepared.surface, plan.surface())), field_chart_path(run_file.output.path), run);
  end_run(run_file, run);
}

}  // namespace

Verb run_verb() {
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
          .pages = {{"neoclassical-run-file", "The run file of neoclassical transport", run_file_reference}},
          .tables = [] { return RunFile().tables().outline(); },
          .plans = true,
          .watched = Watched{},
          .invoke = invocation<RunOptions, run_run>};
}

}  // namespace sonde::neoclassical
