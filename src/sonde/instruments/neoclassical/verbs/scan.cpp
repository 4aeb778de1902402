// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <mutex>
#include <optional>

#include "sonde/engine/base/error.h"
#include "sonde/engine/ranks/hand_out.h"
#include "sonde/engine/report/progress.h"
#include "sonde/instruments/neoclassical/results/live_coefficients.h"
#include "sonde/instruments/neoclassical/results/scan_result.h"
#include "sonde/instruments/neoclassical/scan/scan_surfaces.h"
#include "sonde/instruments/neoclassical/verbs/solve_settings.h"
#include "sonde/instruments/neoclassical/verbs/verbs.h"

namespace sonde::neoclassical {
namespace {

struct ScanVerbOptions {
  RunInput file;
  void describe(Fields& fields) {
    file.describe(fields, {{"output.path", "output", 'o'},
                           {"scan.rho"},
                           {"scan.nu_v"},
                           {"scan.epsi_hat"},
                           {"scan.er_hat"},
                           {"scan.er_tilde"},
                           {"solver.adapt_n_xi"},
                           {"solver.scan_batch_size"},
                           {"output.plot"}});
  }
};

/// All that is known before the first point is solved.
struct PreparedScan {
  RunFile run_file;
  GridSpec grid;
  std::vector<PreparedSurface> surfaces;
  ScanOptions options;
  ScanResult result;  ///< everything but the points
  SurfacesScan work;
};

void describe_axes(PreparedScan& scan) {
  for (const PreparedSurface& each : scan.surfaces) {
    scan.result.rho.push_back(each.rho);
    scan.result.epsi_hat.push_back(scan.result.field.epsi_hat(each.scale));
    scan.result.iota.push_back(each.surface.iota);
    scan.result.B0.push_back(each.surface.reference_field());
    scan.result.G.push_back(each.surface.mean_b_zeta());
    scan.result.signgs.push_back(each.surface.signgs());
    scan.result.I.push_back(each.surface.mean_b_theta());
    scan.result.psi_scale.push_back(each.surface.psi_scale);
    if (each.R0 > 0) scan.result.R0.push_back(each.R0);
    scan.result.symmetric = scan.result.symmetric && each.surface.symmetric();
    scan.work.cases.push_back(grid_of_cases(scan.result.nu_v, scan.result.epsi_hat.back()));
  }
  const PreparedSurface& first = scan.surfaces.front();
  scan.result.a_b = first.a_b;
  scan.result.psi_a = first.psi_a;
  scan.result.periods = first.surface.periods;
  scan.result.units = coefficient_units(first.surface);
  scan.work.prepare = [&scan](Index surface) {
    return Plan::prepare(scan.surfaces[static_cast<std::size_t>(surface)].surface, scan.grid,
                         scan.run_file.solver.solver());
  };
}

void prepare_scan(const ScanVerbOptions& options, const Ranks& ranks, PreparedScan& scan, Run& run) {
  RunFile& run_file = scan.run_file;
  options.file.read(run_file, {"case", "output.include_modes"}, run);
  report_settings(run_file, run);
  apply_solver_settings(run_file.solver, run);
  scan.grid = run_file.grid.spec();
  ScanResult& result = scan.result;
  result.nu_v = run_file.scan_nu();
  result.field = run_file.scan_field();
  run.require_output(run_file.output.path);

  auto preparing = run.report().phase("prepare");
  const bool list = !run_file.scan.rho.empty();
  scan.surfaces = prepare_surfaces(run_file, list ? run_file.scan_rho() : std::vector<double>{},
                                   {.scale = result.field.kind != FieldKind::epsi_hat, .lengths = true}, run);
  if (run_file.output.plot) require_coefficient_charts(run_file.output.path, static_cast<Index>(scan.surfaces.size()));
  require_room(scan.surfaces.front().surface, scan.grid, run);
  describe_axes(scan);
  say_asymmetry(scan.surfaces.front().surface, run);
  preparing.end();
  report_grid(scan.grid, run);
  scan.options = {.batch_size = run_file.solver.scan_batch_size, .adapt = run_file.solver.search()};
  run.report().add_choice("points", Value(scan.work.cases.front().size() * scan.surfaces.size()),
                          fmt::format("{} radii, {} collisionalities, {} fields", scan.surfaces.size(),
                                      result.nu_v.size(), result.field.values.size()));
  const Choice<ComputePath> compute_path = choose_compute_path(
      run_file.solver.precision, scan.grid, static_cast<Index>(scan.work.cases.front().size() * scan.surfaces.size()),
      {.gpu = ranks.size() == 1, .map = ranks.size() == 1}, run);
  result.precision = *run_file.solver.precision;
  result.searched = scan.options.adapt.has_value();
  report_axis("nu_v", result.nu_v, "1/m", run);
  report_axis(name(result.field.kind), result.field.values, "as given", run);
  const Plan first = scan.work.prepare(0);
  report_paths(first, scan.work.cases.front(), run);
  scan.options.batches = take_batch_device(
      ranks.size() > 1
          ? "several processes share points only on the CPU"
          : why_no_gpu(why_not_in_batches(first, scan.work.cases.front(), scan.options), compute_path, run),
      run);
  plan_points(first, scan.work.cases.front(), scan.options, run);
}

/// Which paths the points went, why, and how fast.
void tell_paths(const PreparedScan& scan, Run& run) {
  std::vector<std::string> words;
  for (const ScanResult::Share& share : scan.result.shares(scan.grid)) {
    Value told = Value::object();
    told["path"] = std::string(name(share.path));
    told["points"] = share.points;
    const double rate = share.core_seconds > 0 ? share.flops / share.core_seconds : 0;
    told["because"] = share.because;
    run.results()["paths"].push_back(std::move(told));
    Value& moment = run.results()["run"]["paths"][std::string(name(share.path))];
    moment["core_seconds"] = share.core_seconds;
    if (rate > 0) moment["flops_per_s"] = rate;
    words.push_back(rate > 0 ? fmt::format("{} {} ({:.3g} GFLOP/s)", share.points, name(share.path), rate / 1e9)
                             : fmt::format("{} {}", share.points, name(share.path)));
  }
  if (!words.empty()) run.say(fmt::format("paths     {}", fmt::join(words, ", ")));
}

/// What the search for Legendre modes came to.
void tell_search(const ScanResult& result, Run& run) {
  if (!result.searched) return;
  Index least = 0, most = 0;
  double error = 0;
  for (const Point& point : result.points) {
    if (point.status != PointStatus::ok) continue;
    least = least == 0 ? point.coefficients.n_xi : std::min(least, point.coefficients.n_xi);
    most = std::max(most, point.coefficients.n_xi);
    error = std::max(error, point.error);
  }
  run.results()["largest_error_of_n_xi"] = error;
  run.say(fmt::format("n_xi      {} to {}, which leave errors of up to {:.1e} by estimate", least, most, error));
}

void run_scan(const ScanVerbOptions& options, Run& run) {
  const Ranks ranks = join_ranks(run, ranks_work);
  PreparedScan scan;
  if (!all_succeed(ranks, [&] { prepare_scan(options, ranks, scan, run); }) || run.dry_run()) return;
  ScanResult& result = scan.result;
  {
    auto solving = run.report().phase("solve");
    const std::size_t each = scan.work.cases.front().size();
    result.points.resize(each * scan.surfaces.size());
    ProgressMeter progress("solving", static_cast<Index>(result.points.size()), "points");
    std::mutex mutex;  // of what is shown meanwhile
    LiveCoefficients solved_so_far;
    const auto shown = run.live([&] {
      const std::lock_guard lock(mutex);
      return LiveState{.panels = solved_so_far.options(tables_of(result))};
    });
    scan.work.finished = [&](Index surface, Index which, const Point& point) {
      {
        const std::lock_guard lock(mutex);
        result.points[static_cast<std::size_t>(surface) * each + static_cast<std::size_t>(which)] = point;
        const auto fields = static_cast<Index>(result.field.values.size());
        solved_so_far.add(surface, which / fields, which % fields, point.message);
      }
      progress.advance();
    };
    const std::vector<Index> solved = scan_surfaces(ranks, scan.work, run.host_budget(), scan.options);
    if (ranks.rank() != 0) return;
    say_ranks(solved, run);
  }
  const RunFile& run_file = scan.run_file;
  {
    const auto writing = run.report().phase("write");
    run.give(scan_contents(result, scan.grid, provenance_of(run_file, run)), run_file.output.path);
  }
  Value& results = run.results();
  if (!run_file.output.path.empty()) results["files"].push_back(run_file.output.path);
  results["points"] = result.points.size();
  results["stellarator_symmetric"] = result.symmetric;
  results["rho"] = result.rho;
  results["nu_v"] = result.nu_v;
  results[name(result.field.kind)] = result.field.values;
  double residual = 0;
  for (const Point& point : result.points)
    if (point.status == PointStatus::ok) residual = std::max(residual, point.coefficients.residual);
  run.report().check("largest residual of an answer", residual, run_file.solver.tol);
  run.say(run_file.output.path.empty()
              ? fmt::format("solved    {} points", result.points.size())
              : fmt::format("wrote     {}, {} points", run_file.output.path, result.points.size()));
  tell_paths(scan, run);
  tell_search(result, run);
  if (scan.options.batches) say_batches(static_cast<Index>(result.points.size()), result.in_batches(), run);
  if (const Index dense = result.by_dense_after_all(); dense > 0) {
    results["dense_points"] = dense;
    run.say(fmt::format("note      {} points by `dense`: the quasi-definite blocks left too large a residual", dense));
  }
  if (result.precision != Precision::f64) say_fallback(result.fell_back(), run);
  if (run_file.output.plot) {
    draw_coefficients(tables_of(result), run_file.output.path, run);
  }
  end_run(run_file, run);
  result.require_answers();
}

}  // namespace

Verb scan_verb() {
  return {
      .name = "neoclassical scan",
      .summary = "Solve many collisionalities and electric fields, on one surface or several",
      .details =
          "Every collisionality with every field on every radius. A surface is prepared once; each point is solved "
          "by one thread, so the numbers do not depend on how many there are, nor on how many processes `mpirun` "
          "starts. Points without an answer are NaN in "
          "the file, with their status, and the command ends with status 7.\n\n"
          "A GPU (" +
          setting("device") +
          ") solves all points of one path together, once it has solved a small case as the CPU "
          "does; the numbers differ by rounding. Single precision, `collocation`, adapt_n_xi, path = \"dense\", and "
          "fields without stellarator symmetry run only on the CPU.",
      .examples = {{"sonde neoclassical scan analytic-demo --nu-v 1e-4,1e-3,1e-2,1e-1 --er-hat 0,1e-3 -o scan.nc "
                    "--plot",
                    "A built-in surface with its chart"},
                   {"sonde neoclassical scan wout.nc --s 0.25 --nu-v 1e-5,1e-4,1e-3 --er-tilde 0,1e-4 -o scan.nc",
                    "One surface of an equilibrium"},
                   {"sonde neoclassical scan run.toml --rho 0.25,0.5,0.75 -o scan.h5", "Three radii of a run file"},
                   {"mpirun -n 4 sonde neoclassical scan run.toml --rho 0.25,0.5,0.75 -o scan.h5 --threads 1",
                    "By four processes, to whom points go as they are free"},
                   {"sonde neoclassical scan run.toml -o scan.nc --memory 150M", "With little memory"}},
      .tables = [] { return RunFile().tables().outline(); },
      .plans = true,
      .watched = Watched{.panels = LiveCoefficients::panels()},
      .ranks = true,
      .invoke = invocation<ScanVerbOptions, run_scan>};
}

}  // namespace sonde::neoclassical
