// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/ranks/hand_out.h"
#include "sonde/instruments/neoclassical/database/database_file.h"
#include "sonde/instruments/neoclassical/results/live_coefficients.h"
#include "sonde/instruments/neoclassical/tabulate/build_database.h"
#include "sonde/instruments/neoclassical/verbs/solve_settings.h"
#include "sonde/instruments/neoclassical/verbs/verbs.h"

namespace sonde::neoclassical {
namespace {

enum class Backend { vmec, boozer };

struct DatabaseOptions {
  std::string input, output;
  std::optional<std::string> booz, rho, rho_linspace, nu_v, er_tilde, er_tilde_logspace;
  bool er_tilde_include_zero = false, snap = false, resume = false, plot = false;
  Backend surface_backend = Backend::vmec;
  GridSettings grid;
  SolverSettings solver;
  void describe(Fields& fields) {
    fields.positional("input", input, {.help = "VMEC equilibrium", .metavar = "WOUT"});
    fields.add("output", output, {.help = "the database", .metavar = "FILE.h5", .letter = 'o'});
    fields.add("booz", booz,
               {.help = "boozmn file of the geometry in Boozer angles; unset: made from the equilibrium",
                .metavar = "BOOZMN"});
    fields.add("snap", snap,
               {.help = "take the nearest surface of " + setting("booz") + " where a radius is in a gap"});
    fields.choice("surface_backend", surface_backend, {{"vmec", Backend::vmec}, {"boozer", Backend::boozer}},
                  {.help = "solve in the angles of VMEC, or in those of " + setting("booz")});
    fields.add(
        "rho", rho,
        {.help = "radii sqrt(s); unset: 0.12247, 0.25, 0.375, ... 0.875", .metavar = "LIST", .check = require_numbers});
    fields.add("rho_linspace", rho_linspace,
               {.help = "radii in equal steps instead", .metavar = "FIRST,LAST,COUNT", .check = require_numbers});
    fields.add("nu_v", nu_v,
               {.help = "collisionalities; unset: 3e-7 to 10, 16 of them",
                .unit = "1/m",
                .metavar = "LIST",
                .check = require_numbers});
    fields.add(
        "er_tilde", er_tilde,
        {.help = "electric fields; unset: 0 and 1e-6 to 0.1, 12 of them", .metavar = "LIST", .check = require_numbers});
    fields.add(
        "er_tilde_logspace", er_tilde_logspace,
        {.help = "electric fields in equal ratios instead", .metavar = "FIRST,LAST,COUNT", .check = require_numbers});
    fields.add("er_tilde_include_zero", er_tilde_include_zero, {.help = "and 0 before them"});
    fields.heading("Grid");
    grid.describe(fields);
    fields.heading("");
    solver.describe_only({"scan_batch_size", "adapt_n_xi", "tol", "precision"}, fields);
    fields.add("resume", resume, {.help = "continue with the points that OUTPUT.part holds", .flag_only = true});
    fields.add("plot", plot, {.help = "draw the coefficients of each radius beside the database"});
  }
};

/// "a,b,n": n numbers from a to b.
std::vector<double> spaced(const std::string& text, const std::string& name, bool log) {
  const std::vector<double> numbers = parse_numbers(text, name);
  if (numbers.size() != 3 || numbers[2] < 1 || numbers[2] != std::floor(numbers[2]) || numbers[2] > 1e4 ||
      (log && (numbers[0] <= 0 || numbers[1] <= 0)))
    throw Error(ErrorKind::usage, fmt::format("{} \"{}\": expected FIRST,LAST,COUNT", name, text));
  const auto count = static_cast<Index>(numbers[2]);
  if (!log) return evenly_spaced(numbers[0], numbers[1], count);
  std::vector<double> values = evenly_spaced(std::log10(numbers[0]), std::log10(numbers[1]), count);
  for (double& value : values) value = std::pow(10, value);
  return values;
}

Axes axes_of(const DatabaseOptions& options) {
  Axes axes = default_axes();
  const auto once = [](const auto& a, const auto& b, const std::string& names) {
    if (a && b) throw Error(ErrorKind::usage, fmt::format("{} say the same", names)).hint("keep one of them");
  };
  once(options.rho, options.rho_linspace, setting("rho") + " and " + setting("rho_linspace"));
  once(options.er_tilde, options.er_tilde_logspace, setting("er_tilde") + " and " + setting("er_tilde_logspace"));
  if (options.rho) axes.rho = parse_numbers(*options.rho, setting("rho"));
  if (options.rho_linspace) axes.rho = spaced(*options.rho_linspace, setting("rho_linspace"), false);
  if (options.nu_v) axes.nu_v = parse_numbers(*options.nu_v, setting("nu_v"));
  if (options.er_tilde) axes.Er_tilde = parse_numbers(*options.er_tilde, setting("er_tilde"));
  if (options.er_tilde_logspace) axes.Er_tilde = spaced(*options.er_tilde_logspace, setting("er_tilde_logspace"), true);
  if (options.er_tilde_include_zero && (axes.Er_tilde.empty() || axes.Er_tilde.front() != 0))
    axes.Er_tilde.insert(axes.Er_tilde.begin(), 0);
  return axes;
}

Equilibrium open_wout(const DatabaseOptions& options) {
  SurfaceOptions surface;
  surface.path = options.input;
  return Equilibrium::open(surface);
}

std::optional<Equilibrium> open_booz(const DatabaseOptions& options) {
  if (!options.booz) return std::nullopt;
  SurfaceOptions surface;
  surface.path = *options.booz;
  surface.wout = options.input;
  surface.snap = options.snap;
  return Equilibrium::open(surface);
}

DatabaseRequest request_of(const DatabaseOptions& options) {
  DatabaseRequest request;
  request.axes = axes_of(options);
  request.grid = options.grid.spec();
  request.solver = options.solver.solver();
  request.batch_size = options.solver.scan_batch_size;
  request.adapt = options.solver.search();
  return request;
}

/// Where finished points are kept until the database is whole.
std::string part_of(const DatabaseOptions& options) { return options.output + ".part"; }

DatabaseBuild prepare_build(const DatabaseOptions& options, const Ranks& ranks, Run& run) {
  run.require_output(options.output, {".h5"});
  if (options.output.empty()) {
    for (const char* key : {"resume", "plot"})
      if (run.given(key)) throw Error(ErrorKind::usage, setting(key) + " needs " + setting("output"));
  } else {
    if (!options.resume && path_exists(part_of(options)))
      throw Error(ErrorKind::usage, part_of(options) + ": finished points of an earlier run are here")
          .hint(setting("resume") + " continues with them; delete the file to begin anew");
    require_place(part_of(options), PartFile::role());
  }
  DatabaseRequest request = request_of(options);
  if (options.plot) require_coefficient_charts(options.output, request.axes.radii());
  if (options.surface_backend == Backend::boozer && !options.booz)
    throw Error(ErrorKind::usage, setting("surface_backend", "boozer") + " needs " + setting("booz"))
        .hint("`sonde neoclassical boozer` makes that file");

  std::optional<Precision> precision = options.solver.precision;
  const Choice<ComputePath> compute_path = choose_compute_path(
      precision, request.grid, request.axes.count(), {.gpu = ranks.size() == 1, .map = ranks.size() == 1}, run);
  request.solver.precision = *precision;
  auto preparing = run.report().phase("prepare");
  const Equilibrium equilibrium = open_wout(options);
  const std::optional<Equilibrium> boozer = open_booz(options);
  DatabaseBuild build(options.surface_backend == Backend::boozer ? *boozer : equilibrium, boozer, request);
  require_room(build.surface(0), request.grid, run);
  preparing.end();
  say_notes(build.notes(), run);
  report_grid(request.grid, run);
  run.report().add_choice("points", Value(request.axes.count()),
                          fmt::format("{} radii, {} collisionalities, {} fields", request.axes.radii(),
                                      request.axes.collisionalities(), request.axes.fields()));
  const auto said = [](bool given) { return given ? "as given" : "by default"; };
  report_axis("rho", request.axes.rho, said(options.rho || options.rho_linspace), run);
  report_axis("nu_v", request.axes.nu_v, said(options.nu_v.has_value()), run);
  report_axis("Er_tilde", request.axes.Er_tilde, said(options.er_tilde || options.er_tilde_logspace), run);
  report_paths(build.plan(0), build.cases(0), run);
  run.report().add_choice("file", Value(format_bytes(static_cast<double>(database_bytes(request.axes)))),
                          "tables of all points");
  if (const auto device =
          take_batch_device(ranks.size() > 1 ? "several processes share points only on the CPU"
                                             : why_no_gpu(build.why_not_in_batches(), compute_path, run),
                            run))
    build.use(*device);
  plan_points(build.plan(0), build.cases(0), build.scan_options(), run);
  return build;
}

Database solved(const Ranks& ranks, DatabaseBuild& build, PartFile* part, Run& run) {
  std::mutex mutex;  // of what is shown meanwhile
  LiveCoefficients solved_so_far;
  CoefficientTables so_far = tables_of(build.so_far());
  const auto shown = run.live([&] {
    const std::lock_guard lock(mutex);
    return LiveState{.panels = solved_so_far.options(so_far)};
  });
  if (shown)
    build.tell([&](const FinishedPoint& point) {
      const std::lock_guard lock(mutex);
      const std::size_t at = build.request().axes.index(point.radius, point.nu, point.field);
      so_far.D11[at] = point.D11;
      so_far.D31[at] = point.D31;
      so_far.D13[at] = point.D13;
      so_far.D33[at] = point.D33;
      solved_so_far.add(point.radius, point.nu, point.field);
    });
  try {
    return *build.run(ranks, part, run.host_budget());
  } catch (Error& error) {
    if (part != nullptr && (error.kind() == ErrorKind::interrupted || error.kind() == ErrorKind::terminated))
      error.hint("finished points are kept in " + part->path() + ": the same command with " + setting("resume") +
                 " continues with them");
    throw;
  }
}

/// On rank 0, where the files are: the points of before, and what has become of all. `part` is nullptr where nothing is
/// written.
void write_solved(const DatabaseOptions& options, const Ranks& ranks, DatabaseBuild& build, PartFile* part, Run& run) {
  if (part != nullptr && !part->left_out().empty()) run.say("note      " + part->left_out());
  if (part != nullptr && !part->earlier().empty())
    run.say(fmt::format("resuming  {} points are there", part->earlier().size()));
  auto solving = run.report().phase("solve");
  const Database database = solved(ranks, build, part, run);
  solving.end();
  auto writing = run.report().phase("write");
  run.give(database_contents(database), options.output);
  if (part != nullptr) part->remove();
  writing.end();
  Value& results = run.results();
  if (part != nullptr) results["files"].push_back(options.output);
  results["points"] = database.axes.count();
  results["resumed_points"] = build.resumed();
  results["run"]["core_seconds"] = build.point_seconds();
  if (build.request().solver.precision != Precision::f64)
    say_fallback(std::count(database.precision_code.begin(), database.precision_code.end(), 0.0), run);
  say_ranks(build.points_of_rank(), run);
  if (build.in_batches() > 0) say_batches(database.axes.count() - build.resumed(), build.in_batches(), run);
  results["stellarator_symmetric"] = database.symmetric;
  results["largest_onsager_residual"] = database.largest_onsager_residual();
  results["largest_residual"] = *std::max_element(database.residual.begin(), database.residual.end());
  run.say(fmt::format("{}, {} points, {:.3g} core-seconds in all",
                      part != nullptr ? "wrote     " + options.output : "solved  ", database.axes.count(),
                      build.point_seconds()));
  if (options.plot) {
    draw_coefficients(tables_of(database), options.output, run);
  }
  say_times(run);
}

void run_database(const DatabaseOptions& options, Run& run) {
  const Ranks ranks = join_ranks(run, ranks_work);
  std::optional<DatabaseBuild> build;
  if (!all_succeed(ranks, [&] { build.emplace(prepare_build(options, ranks, run)); }) || run.dry_run()) return;
  std::optional<PartFile> part;
  const auto open_part = [&] {
    if (ranks.rank() == 0 && !options.output.empty()) part.emplace(part_of(options), build->key());
  };
  if (!all_succeed(ranks, open_part)) return;
  if (ranks.rank() == 0)
    write_solved(options, ranks, *build, part ? &*part : nullptr, run);
  else
    (void)build->run(ranks, nullptr, run.host_budget());
}

}  // namespace

Verb database_verb() {
  return {.name = "neoclassical database",
          .summary = "Make a database of coefficients that NEOPAX reads",
          .details =
              "Coefficients over radius, collisionality and electric field from nothing but a VMEC equilibrium: the "
              "geometry "
              "in Boozer angles that the file also holds is made here unless " +
              setting("booz") +
              " gives it. Equal input gives equal "
              "bytes, with any number of threads and of processes: "
              "`mpirun -n 8 sonde neoclassical database ... --threads 1`.\n\n"
              "Finished points are kept in OUTPUT.part; after an interruption " +
              setting("resume") +
              " continues with them, when "
              "equilibrium, axes, grid and options are the same (" +
              setting("tol") +
              " may change): other settings are refused by "
              "name. So is another processor: a GPU (" +
              setting("device") +
              ") solves all points of a radius and path together, with "
              "numbers that differ by rounding (`sonde help neoclassical scan`).",
          .examples = {{"sonde neoclassical database wout.nc -o Dij.h5",
                        "7 radii, 16 collisionalities, 12 fields on 25 x 25 x 60"},
                       {"sonde neoclassical database wout.nc -o Dij.h5 --resume",
                        "The first one, going on where it was interrupted"},
                       {"sonde neoclassical database wout.nc -o Dij.h5 --rho 0.25,0.5 --nu-v 1e-4,1e-3,1e-2 "
                        "--er-tilde-logspace 1e-5,1e-2,4 --er-tilde-include-zero --plot",
                        "A small one with charts"},
                       {"mpirun -n 8 sonde neoclassical database wout.nc -o Dij.h5 --threads 1",
                        "By eight processes, to whom points go as they are free"},
                       {"sonde neoclassical database wout.nc --booz boozmn.nc --surface-backend boozer -o Dij.h5",
                        "In Boozer angles"}},
          .plans = true,
          .watched = Watched{.panels = LiveCoefficients::panels()},
          .ranks = true,
          .invoke = invocation<DatabaseOptions, run_database>};
}

}  // namespace sonde::neoclassical
