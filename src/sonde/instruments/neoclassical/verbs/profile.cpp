// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/engine/options/toml.h"
#include "sonde/engine/ranks/hand_out.h"
#include "sonde/engine/report/json.h"
#include "sonde/engine/report/progress.h"
#include "sonde/engine/run/write_charts.h"
#include "sonde/instruments/neoclassical/database/database_file.h"
#include "sonde/instruments/neoclassical/results/transport_result.h"
#include "sonde/instruments/neoclassical/run/transport_settings.h"
#include "sonde/instruments/neoclassical/tabulate/radial_scales.h"
#include "sonde/instruments/neoclassical/tabulate/solved_equilibrium.h"
#include "sonde/instruments/neoclassical/transport/profile_file.h"
#include "sonde/instruments/neoclassical/transport/radial_ranks.h"
#include "sonde/instruments/neoclassical/transport/table_source.h"
#include "sonde/instruments/neoclassical/verbs/solve_settings.h"
#include "sonde/instruments/neoclassical/verbs/verbs.h"

namespace sonde::neoclassical {
namespace {

TransportPanels panels_of(std::string_view list, std::string_view where) {
  TransportPanels panels{false, false, false};
  for (const std::string& word : split(list, ',')) {
    const std::string_view what = trim(word);
    if (what == "fluxes")
      panels.fluxes = true;
    else if (what == "ambipolar")
      panels.ambipolar = true;
    else if (what == "bootstrap")
      panels.bootstrap = true;
    else
      throw Error(ErrorKind::usage, fmt::format("{} \"{}\": expected fluxes, ambipolar, bootstrap", where, list));
  }
  return panels;
}

/// The group of settings that have no effect where coefficients come from a database.
constexpr const char* solves_heading = "Solves of an equilibrium";

struct ProfileOptions {
  std::string input, output, quantity = "fluxes,ambipolar,bootstrap", rho;
  std::optional<std::string> profiles, compare;
  std::optional<double> E_r;
  SolverSettings solver;
  FieldSearch search = FieldSearch::guided;
  TransportSettings transport;
  GridSettings grid;
  void describe(Fields& fields) {
    fields.positional("input", input,
                      {.help = "a database, or a VMEC equilibrium: then coefficients are solved at every energy",
                       .metavar = "DIJ.h5|WOUT"});
    fields.add("output", output, {.help = "the profiles of transport", .metavar = "FILE.h5|.nc|.npz", .letter = 'o'});
    fields.add("quantity", quantity,
               {.help = "what is drawn: fluxes, ambipolar, bootstrap",
                .metavar = "LIST",
                .check = [](std::string_view list, std::string_view where) { (void)panels_of(list, where); }});
    fields.add("profiles", profiles,
               {.help = "densities and temperatures: columns rho, n_e, T_e, n_D, ... (1/m^3, eV), or n0, n_edge, T0, "
                        "T_edge of the standard profiles in a table [profiles]; unset: the standard ones",
                .metavar = "FILE.csv|.h5|.toml"});
    fields.add("rho", rho,
               {.help = "radii; empty: 51 over the range of the database, or 9 of an equilibrium",
                .metavar = "LIST",
                .check = require_numbers});
    fields.add(
        "E_r", E_r,
        {.help = "electric field everywhere; unset: that of the profiles, else the ambipolar one", .unit = "V/m"});
    transport.describe(fields);
    fields.heading(solves_heading);
    grid.describe(fields);
    solver.describe_only({"tol", "precision", "adapt_n_xi"}, fields);
    fields.choice("E_r_search", search, {{"guided", FieldSearch::guided}, {"exhaustive", FieldSearch::exhaustive}},
                  {.help = "how the ambipolar field is found: by tables made at each radius, every root then by solves "
                           "at it; or by solves at every field of the search"});
    fields.add("compare", compare,
               {.help = "a database of the equilibrium: tell what interpolating it costs", .metavar = "DIJ.h5"});
    fields.heading("");
  }
};

/// The plasma at any radius, from a file or the standard formulas.
class Profiles {
 public:
  explicit Profiles(const std::optional<std::string>& file) {
    if (!file) return;
    if (to_lower(std::filesystem::path(*file).extension().string()) != ".toml") {
      table_ = read_profiles(*file);
      return;
    }
    Fields fields;
    fields.add("n0", standard_.n0, {.help = "density on the axis above the edge's", .unit = "1e20 / m^3", .min = 0});
    fields.add("n_edge", standard_.n_edge, {.help = "density of the edge", .unit = "1e20 / m^3", .min = 0});
    fields.add("T0", standard_.T0, {.help = "temperature on the axis above the edge's", .unit = "keV", .min = 0});
    fields.add("T_edge", standard_.T_edge, {.help = "temperature of the edge", .unit = "keV", .min = 0});
    Tables tables;
    tables.add("profiles", std::move(fields));
    read_toml(*file, tables);
  }
  [[nodiscard]] std::vector<Population> plasma(double rho, double a_b) const {
    return table_ ? table_->plasma(rho, a_b) : standard_plasma(standard_, rho, a_b);
  }
  [[nodiscard]] std::optional<double> E_r(double rho) const {
    return table_ ? table_->radial_field(rho) : std::nullopt;
  }

 private:
  StandardProfiles standard_;
  std::optional<TabulatedProfiles> table_;
};

/// A database has data sets at its root that an equilibrium has not.
bool is_database(const std::string& path) {
  const std::string suffix = to_lower(std::filesystem::path(path).extension().string());
  return (suffix == ".h5" || suffix == ".hdf5") && Hdf5File::open(path).is_dataset("/D11");
}

struct Source {
  std::unique_ptr<RadialSource> radii;
  std::vector<double> rho;
  std::string what;
  bool solves = false;      ///< each coefficient, in place of a look into a table
  bool symmetric = true;    ///< stellarator symmetry: tables of a guided search need it
  SolverSettings solver{};  ///< resolved
  std::shared_ptr<std::function<void()>> solved =
      std::make_shared<std::function<void()>>();  ///< called for each, once set
};

/// Outermost, where |B| varies most; not outside of the mesh. Returns whether the field has stellarator symmetry.
bool say_resolution_at_edge(const Equilibrium& equilibrium, double rho, const GridSpec& grid, Run& run) {
  const Surface surface = equilibrium.surface(rho * rho).surface;
  require_room(surface, grid, run);
  say_resolution(surface, grid, run);
  return surface.symmetric();
}

/// Outside of the database its nearest radius stands for all others.
void say_radii_beyond(const std::vector<double>& rho, const std::vector<double>& known, Run& run) {
  std::vector<std::string> beyond;
  for (const double each : rho)
    if (each < known.front() || each > known.back()) beyond.push_back(fmt::format("{:.4g}", each));
  if (!beyond.empty())
    run.say(
        fmt::format("note      rho = {} is outside the database ({:.4g} to {:.4g}): the coefficients of its "
                    "nearest radius are used there",
                    join_words(beyond), known.front(), known.back()));
}

Source open_source(const ProfileOptions& options, Run& run) {
  std::vector<double> rho = parse_numbers(options.rho, setting("rho"));
  if (is_database(options.input)) {
    run.require_room_for(options.input);
    const DatabaseFile file = read_database(options.input);
    say_radii_beyond(rho, file.database.axes.rho, run);
    if (rho.empty()) rho = evenly_spaced(file.database.axes.rho.front(), file.database.axes.rho.back(), 51);
    for (const Field& field : run.settings().all())
      if (field.heading == solves_heading && field.origin == Origin::caller)
        throw Error(ErrorKind::usage, setting(field.key) + " is for what is solved from an equilibrium")
            .hint("leave it out");
    return {.radii = std::make_unique<TableSource>(file.database),
            .rho = std::move(rho),
            .what = "database " + options.input};
  }
  SurfaceOptions surface;
  surface.path = options.input;
  const Equilibrium equilibrium = Equilibrium::open(surface);
  const GridSpec grid = options.grid.spec();
  report_grid(grid, run);
  if (rho.empty()) rho = evenly_spaced(0.1, 0.9, 9);
  const bool symmetric = say_resolution_at_edge(equilibrium, *std::max_element(rho.begin(), rho.end()), grid, run);
  Source source{.radii = nullptr,
                .rho = std::move(rho),
                .what = "solved from " + options.input,
                .solves = true,
                .symmetric = symmetric,
                .solver = options.solver};
  const Index points = static_cast<Index>(source.rho.size()) * options.transport.energies;
  (void)choose_compute_path(source.solver.precision, grid, points, {.gpu = false, .map = Ranks::world().size() == 1},
                            run);
  DirectSolves how;
  how.adapt = source.solver.search();
  how.solved = [told = source.solved] {
    if (*told) (*told)();
  };
  source.radii = std::make_unique<SolvedEquilibrium>(equilibrium, minor_radius(equilibrium, std::nullopt), grid,
                                                     source.solver.solver(), std::move(how));
  return source;
}

/// A table is asked for less than it costs to make tables of it; tables know no D31 without parity in E_r.
TransportOptions transport_of(const ProfileOptions& options, const Source& source) {
  TransportOptions made = options.transport.transport();
  if (source.solves && source.symmetric) made.search = options.search;
  return made;
}

std::string settings_text(const ProfileOptions& options, const Source& source) {
  std::optional<DirectSettings> direct;
  if (source.solves) {
    direct.emplace(
        DirectSettings{.grid = options.grid, .solver = source.solver, .search = transport_of(options, source).search});
  }
  return profile_settings_text(options.transport, options.profiles.value_or(""), direct);
}

/// What a direct compute path is in for, before it begins.
void say_solves(const std::vector<RadialInput>& radii, const TransportOptions& options, FieldSearch asked, Run& run) {
  const Index solves = expected_solves(radii, options);
  const bool searches = std::any_of(radii.begin(), radii.end(), [](const auto&input) { return !input.E_r; }),
             guided = options.search == FieldSearch::guided;
  const std::string search =
      guided ? "tables made at each radius, then each root by solves at it"
             : fmt::format("solves at {} fields of each radius, then more for each root{}", options.ambipolar.points,
                           asked == FieldSearch::guided ? " (without stellarator symmetry no tables help)" : "");
  if (searches) run.report().add_choice("search", Value(guided ? "guided" : "exhaustive"), search);
  run.report().add_choice("solves", Value(solves),
                          searches ? "or some more: the search for the field decides" : "one per energy and species");
  run.say(fmt::format("solves    {}{}", solves,
                      searches ? fmt::format(" or more: {}; {} gives a field", search, setting("E_r")) : ""));
}

/// What a guided search ran and how far its tables were off: a by-product.
void say_search(const std::vector<RadialResult>& results, Run& run) {
  Index points = 0, fields = 0, radii = 0;
  double error = 0;
  for (const RadialResult& r : results) {
    if (r.search.fields == 0) continue;
    ++radii;
    points += r.search.table_points;
    fields += r.search.fields;
    error = std::max(error, r.search.current_error);
  }
  if (radii == 0) return;
  Value& found = run.results();
  found["search_table_points"] = points;
  found["search_fields_solved"] = fields;
  found["search_table_error"] = error;
  run.say(
      fmt::format("search    {} radii by tables of {} points in all and solves at {} fields, where the tables "
                  "were off by up to {:.2g} % of the largest current",
                  radii, points, fields, 100 * error));
}

/// How far the Sonine series has come, by its last order; of the largest current, since currents pass through zero.
void say_sonine_change(const std::vector<RadialResult>& results, Run& run) {
  double change = 0, largest = 0;
  for (const RadialResult& r : results) {
    if (r.corrected.empty() || std::isnan(r.sonine_change)) continue;
    change = std::max(change, std::abs(r.sonine_change));
    largest = std::max(largest, std::abs(r.corrected_total_current));
  }
  if (!(largest > 0)) return;
  run.results()["largest_sonine_change"] = change / largest;
  run.say(fmt::format("order     the last Sonine order changes the current by up to {:.2g} % of the largest{}",
                      100 * change / largest,
                      change > 0.05 * largest ? ": take another (" + setting("sonine_order") + ")" : ""));
}

/// The integrals again, from a database at the same fields. Nothing when none is asked for.
std::optional<std::vector<RadialResult>> interpolated(const ProfileOptions& options, std::vector<RadialInput> radii,
                                                      const std::vector<RadialResult>& solved) {
  if (!options.compare) return std::nullopt;
  const TableSource table(read_database(*options.compare).database);
  return interpolated_again(table, std::move(radii), solved, options.transport.transport());
}

struct Prepared {
  TransportPanels panels;
  Source source;
  std::vector<RadialInput> radii;
};

/// Without an ending, beside the profiles.
std::string chart_path(const std::string& output) { return std::filesystem::path(output).replace_extension().string(); }

Prepared prepare_profile(const ProfileOptions& options, Run& run) {
  run.require_output(options.output);
  if (!options.output.empty()) require_chart(chart_path(options.output));
  take_processor(run);
  const TransportPanels panels = panels_of(options.quantity, setting("quantity"));
  const auto preparing = run.report().phase("prepare");
  const Profiles profiles(options.profiles);
  Source source = open_source(options, run);
  std::vector<RadialInput> radii;
  for (const double rho : source.rho) {
    const std::optional<double> E_r = options.E_r ? options.E_r : profiles.E_r(rho);
    radii.push_back({rho, profiles.plasma(rho, source.radii->minor_radius()), E_r, options.transport.E_par});
  }
  run.report().add_choice("coefficients", Value(source.what), "the input");
  run.report().add_choice("radii", Value(radii.size()),
                          fmt::format("rho {:.4g} to {:.4g}", source.rho.front(), source.rho.back()));
  if (source.solves) say_solves(radii, transport_of(options, source), options.search, run);
  if (options.compare && !is_database(*options.compare))
    throw Error(ErrorKind::bad_file, *options.compare + ": not a database of coefficients");
  return {panels, std::move(source), std::move(radii)};
}

void run_profile(const ProfileOptions& options, Run& run) {
  const Ranks ranks = join_ranks(run, ranks_work);
  std::optional<Prepared> prepared;
  if (!all_succeed(ranks, [&] { prepared.emplace(prepare_profile(options, run)); }) || run.dry_run()) return;
  const auto& [panels, source, radii] = *prepared;

  auto solving = run.report().phase("solve");
  std::optional<ProgressMeter> progress;
  if (source.solves) {
    progress.emplace("solving", expected_solves(radii, transport_of(options, source)) / ranks.size(), "points");
    *source.solved = [&] { progress->advance(); };
  }
  const std::vector<RadialResult> results =
      radial_transport(ranks, *source.radii, radii, transport_of(options, source));
  progress.reset();
  solving.end();
  if (ranks.rank() != 0) return;
  std::vector<Species> species;
  for (const Population& population : radii.front().plasma) species.push_back(population.species);
  {
    const auto writing = run.report().phase("write");
    Contents contents = transport_contents(results, species, source.what, settings_text(options, source));
    if (const auto by_table = interpolated(options, radii, results)) {
      const LargestError largest = add_interpolation_errors(contents, results, *by_table);
      run.results()["largest_interpolation_error"] = largest.value;
      run.results()["largest_interpolation_error_of"] = largest.of;
      run.say(fmt::format("compared  interpolating {} changes the integrals by up to {:.2g} % ({})", *options.compare,
                          100 * largest.value, largest.of));
    }
    run.give(contents, options.output);
  }
  Index rootless = 0;
  double beyond = 0, left_out = 0;
  run.say("rho     E_r [kV/m]  roots  <J B>/B0 [kA/m^2]  with momentum correction");
  for (const RadialResult& r : results) {
    rootless += r.without_root ? 1 : 0;
    for (const double share : r.beyond) beyond = std::max(beyond, share);
    for (const double share : r.left_out) left_out = std::max(left_out, share);
    run.say(fmt::format("{:<7.4f} {:<11.4g} {:<6} {:<18.5g} {}", r.rho, r.E_r / 1e3, r.roots.roots.size(),
                        r.total_current / 1e3,
                        r.corrected.empty() ? "" : fmt::format("{:.5g}", r.corrected_total_current / 1e3)));
  }
  say_search(results, run);
  Value& found = run.results();
  found["roots_of"] = roots_of(results);
  if (!options.output.empty()) found["files"].push_back(options.output);
  found["radii"] = results.size();
  found["ranks"] = ranks.size();
  found["radii_without_root"] = rootless;
  found["largest_share_beyond"] = beyond;
  found["largest_share_left_out"] = left_out;
  const auto doubtful = std::count_if(results.begin(), results.end(), [](const RadialResult& r) {
    return std::any_of(r.roots.roots.begin(), r.roots.roots.end(), [](const auto& root) { return root.doubtful(); });
  });
  found["radii_with_doubtful_roots"] = doubtful;
  if (doubtful > 0)
    run.say(
        fmt::format("note      {} radii have doubtful roots, which are not taken: nearly symmetric, they hang on "
                    "what the electric drift does to the momentum correction (root_uncertainty of the file)",
                    doubtful));
  if (rootless > 0)
    run.say(
        fmt::format("note      {} radii have no stable ambipolar field between {:.4g} and {:.4g} kV/m: NaN there "
                    "({} and {} widen the search)",
                    rootless, options.transport.E_r_lowest / 1e3, options.transport.E_r_highest / 1e3,
                    setting("E_r_lowest"), setting("E_r_highest")));
  say_sonine_change(results, run);
  if (std::any_of(results.begin(), results.end(), [](const auto& r) { return r.without_u2; }))
    run.say(
        "note      the database ends before collisions are frequent: the correction leaves out the flows of "
        "Pfirsch and Schlueter (nu_v up to 10 has them)");
  if (beyond > 0.01)
    run.say(
        fmt::format("note      up to {:.0f} % of an integral rests on coefficients beyond the database", 100 * beyond));
  if (left_out > 0)
    run.say(fmt::format("note      energies without an answer were left out; they hold up to {:.1e} of an integral",
                        left_out));
  if (options.output.empty()) return say_times(run);
  run.say("wrote     " + options.output);
  if (const Chart chart = transport_chart(results, species, panels); !chart.facets.empty()) {
    draw(chart, chart_path(options.output), run);
  } else {
    run.say("note      no radius has a field: there is nothing to draw");
  }
  say_times(run);
}

}  // namespace

Verb profile_verb() {
  return {
      .name = "neoclassical profile",
      .summary = "Fluxes, ambipolar electric field and bootstrap current over the radius",
      .details =
          "Integrates monoenergetic coefficients over energy for every species, finds all ambipolar fields and "
          "takes a stable one, and gives the bootstrap current without and with momentum correction. Ambipolar are "
          "the fluxes with the correction that was asked for (" +
          setting("momentum_correction", "none") +
          ": those without). From a "
          "database it interpolates; from an equilibrium it solves at the very energies that the integrals need "
          "(" +
          setting("compare") +
          " reports what interpolating a database would have cost). An energy without a solution is left "
          "out where it holds less than 1e-4 of every integral, with a note. Radii without a stable ambipolar field "
          "are NaN, and without_root of the file marks them. A root that the electric drift could move by more than "
          "half, as "
          "the momentum correction of nearly symmetric fields has them, is reported but not taken. Under `mpirun` "
          "radii go to whichever process is free.",
      .examples = {{"sonde neoclassical profile Dij.h5 -o profiles.h5", "51 radii with the standard profiles"},
                   {"sonde neoclassical profile Dij.h5 --profiles plasma.csv --quantity bootstrap -o current.nc",
                    "Densities and temperatures of a table"},
                   {"sonde neoclassical profile wout.nc --rho 0.25,0.5,0.75 --n-theta 25 --n-zeta 31 --n-xi 17 "
                    "--energies 11 --E-r 0 -o direct.h5",
                    "Three radii solved directly"},
                   {"sonde neoclassical profile wout.nc --rho 0.5 --E-r 0 --compare Dij.h5 -o direct.h5",
                    "What interpolating a database costs"}},
      .plans = true,
      .watched = Watched{},
      .ranks = true,
      .invoke = invocation<ProfileOptions, run_profile>};
}

}  // namespace sonde::neoclassical
