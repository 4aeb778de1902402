// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/verbs/solve_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <tuple>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/report/json.h"
#include "sonde/engine/report/report_role.h"
#include "sonde/engine/run/write_charts.h"
#include "sonde/instruments/neoclassical/batch/smoke_solve.h"
#include "sonde/instruments/neoclassical/geometry/resolution.h"
#include "sonde/instruments/neoclassical/tabulate/fingerprint.h"
#include "sonde/instruments/neoclassical/tabulate/radial_scales.h"

namespace sonde::neoclassical {

void RunInput::describe(Fields& fields, const std::vector<Tables::Lent>& more) {
  fields.positional("input", input,
                    {.help = "run file (.toml), the file of a surface, or analytic-demo", .metavar = "INPUT"});
  described_.tables().lend(fields, {{"surface.s"},
                                    {"surface.snap"},
                                    {"surface.wout"},
                                    {"surface.psi_a"},
                                    {"grid.n_theta"},
                                    {"grid.n_zeta"},
                                    {"grid.n_xi"},
                                    {"solver.precision"}});
  described_.tables().lend(fields, more);
  fields.add("set", set,
             {.help = "one setting of the run file, for instance grid.round_odd=true", .metavar = "TABLE.KEY=VALUE"});
}

namespace {

/// An electric field that is given by itself replaces what the file says of it.
void keep_one_field(RunFile& run_file, const Run& run) {
  constexpr std::array forms{"epsi_hat", "er_hat", "er_tilde"};
  const auto given = std::count_if(forms.begin(), forms.end(), [&](const char* each) { return run.given(each); });
  if (given == 0) return;
  if (given > 1)
    throw Error(ErrorKind::usage, "the electric field is given twice")
        .hint("keep one of " + setting("epsi_hat") + ", " + setting("er_hat") + ", " + setting("er_tilde"));
  CaseSettings& at = run_file.at;
  ScanSettings& scan = run_file.scan;
  for (const auto& [form, single, list] : {std::tuple("epsi_hat", &at.epsi_hat, &scan.epsi_hat),
                                           {"er_hat", &at.er_hat, &scan.er_hat},
                                           {"er_tilde", &at.er_tilde, &scan.er_tilde}}) {
    if (run.given(form)) continue;
    single->reset();
    list->clear();
  }
}

/// Throws Error(usage) when the caller gave one of these tables or settings.
void refuse_given(const Tables& tables, const std::vector<std::string>& unused) {
  for (const std::string& name : unused) {
    const std::vector<std::string> path = split(name, '.');
    for (const Field& field : tables.find(path.front())->items.front().fields.all())
      if (field.origin == Origin::caller && (path.size() == 1 || field.key == path.back()))
        throw Error(ErrorKind::usage,
                    fmt::format("{} has no effect on this command", setting(path.front() + "." + field.key)))
            .hint("leave it out");
  }
}

}  // namespace

void RunInput::read(RunFile& run_file, const std::vector<std::string>& unused, const Run& run) const {
  if (to_lower(std::filesystem::path(input).extension().string()) == ".toml")
    run_file.read(input);
  else
    run_file.surface.path = input;
  run_file.tables().assign_over_file(run.tables(), "the settings");
  if (run.given("s")) {
    if (run.given("rho"))
      throw Error(ErrorKind::usage, setting("s") + " and " + setting("rho") + " say the same").hint("keep one of them");
    run_file.surface.rho.reset();
    run_file.surface.surface_index.reset();
    run_file.scan.rho.clear();
  }
  keep_one_field(run_file, run);
  run_file.tables().take(run.settings());
  Problems problems;
  for (const std::string& setting : set) problems.collect([&] { run_file.tables().assign_text(setting); });
  problems.throw_if_any("the command line has several problems");
  refuse_given(run_file.tables(), unused);
  if (run_file.output.report) require_place(*run_file.output.report, report_role());
}

void report_settings(const RunFile& run_file, Run& run) { run.add_settings("run_file", run_file.tables().echo()); }

void report_case(const Case& at, const FieldAxis& field, const Surface& surface, const GridSpec& grid, Run& run) {
  Value& of = run.results()["case"];
  of["surface"] = surface.source;
  if (surface.s > 0) of["s"] = surface.s;
  of["nu_hat"] = at.nu_hat;
  of["epsi_hat"] = at.epsi_hat;
  if (field.kind != FieldKind::epsi_hat) of[name(field.kind)] = field.values.front();
  of["n_theta"] = grid.n_theta;
  of["n_zeta"] = grid.n_zeta;
  of["n_xi"] = grid.n_xi;
  of["discretisation"] = std::string(name(grid.discretisation));
}

void take_processor(Run& run) {
  (void)run.device_for("computed on the CPU; `neoclassical scan` and `database` solve many points on a GPU");
}

std::optional<BatchDevice> take_batch_device(const std::string& why_not, Run& run) {
  const BatchDeviceChoice made = choose_batch_device(run.device_asked(), why_not);
  run.use_device(made.chosen);
  for (const auto& [device, check] : made.checks) {
    run.report().check("smoke solve on " + device.name(), check.difference, SmokeSolve::tolerance);
    if (check.failure.empty()) continue;
    run.results()["devices_left_out"].push_back(check.failure);
    run.say("note      " + check.failure);
  }
  if (made.chosen.value.is_cpu()) return std::nullopt;
  return BatchDevice{made.chosen.value, run.budget()};
}

Choice<ComputePath> choose_compute_path(std::optional<Precision>& precision, const GridSpec& grid, Index points,
                                        const PathLimits& limits, Run& run) {
  const std::string asked = run.device_asked();
  const std::vector<Device> devices = Device::all();
  const bool gpu_asked = asked.starts_with("cuda");
  const bool gpu_open = asked == "auto" && limits.gpu &&
                        std::any_of(devices.begin(), devices.end(), [](Device each) { return !each.is_cpu(); });
  std::vector<ComputePath> possible;  // what the rule takes comes first
  if (precision != Precision::f32_refine) {
    if (gpu_open || gpu_asked) possible.push_back(ComputePath::gpu);
    if (!gpu_asked) possible.push_back(ComputePath::cpu_f64);
  }
  if (precision != Precision::f64 && !gpu_asked) possible.push_back(ComputePath::cpu_f32_refine);
  Choice<ComputePath> made{possible.empty() ? ComputePath::cpu_f32_refine : possible.front(), "as asked"};
  if (possible.size() > 1) {
    const KeptMap kept = limits.map ? kept_crossover_map() : KeptMap{};
    if (!kept.note.empty()) say_notes({kept.note}, run);
    if (kept.scans.empty()) {
      made.because = limits.map ? "by rule, no map of this machine: `sonde bench neoclassical-crossover` makes one"
                                : "by rule: several processes share points";
    } else {
      made = fastest_path(kept.scans, grid.n_theta * grid.n_zeta, points, thread_count(), possible);
      made.because = fmt::format("by the map of this machine, {}: {}", crossover_map_path(), made.because);
    }
    run.report().add_choice("compute path", Value(name(made.value)), made.because);
  }
  if (!precision) precision = made.value == ComputePath::cpu_f32_refine ? Precision::f32_refine : Precision::f64;
  return made;
}

std::string why_no_gpu(std::string why_not, const Choice<ComputePath>& compute_path, const Run& run) {
  return why_not.empty() && compute_path.value != ComputePath::gpu && run.device_asked() == "auto"
             ? compute_path.because
             : std::move(why_not);
}

void say_batches(Index points, Index in_batches, Run& run) {
  run.results()["points_on_gpu"] = in_batches;
  if (in_batches < points)
    run.say(fmt::format("note      {} of {} points by the CPU: the GPU found no answer to them", points - in_batches,
                        points));
}

void say_ranks(const std::vector<Index>& points_of_rank, Run& run) {
  Value& results = run.results();
  results["ranks"] = points_of_rank.size();
  results["points_per_rank"] = points_of_rank;
  if (points_of_rank.size() > 1)
    run.say(fmt::format("ranks     {}, points {}", points_of_rank.size(), fmt::join(points_of_rank, ", ")));
}

void say_times(Run& run) {
  const Value report = run.report().to_value();
  std::string text;
  double total = 0;
  for (const Value& phase : report.find("phases")->items()) {
    total += number_at(phase, "first_s");
    text += fmt::format("{} {}, ", text_at(phase, "name"), format_seconds(number_at(phase, "first_s")));
  }
  run.say(fmt::format("times     {}total {}; peak {}", text, format_seconds(total),
                      format_bytes(number_at(*report.find("memory"), "peak_rss_bytes"))));
}

void end_run(const RunFile& run_file, Run& run) {
  say_times(run);
  if (run_file.logging.verbose) run.say(run.report().to_text());
  if (run_file.output.report && !run.given("report")) {
    run.report().write(*run_file.output.report);
    run.say("wrote     " + *run_file.output.report);
  }
}

void say_fallback(Index fell_back, Run& run) {
  run.results()["points_in_f64"] = fell_back;
  if (fell_back > 0)
    run.say(fmt::format("note      {} points needed f64: precision_code of the file has them", fell_back));
}

namespace {

std::string coefficient_chart_path(const std::string& stem, Index radius, Index radii) {
  return radii > 1 ? fmt::format("{}_rho{}", stem, radius + 1) : stem;
}

}  // namespace

void draw_coefficients(const CoefficientTables& tables, const std::string& output, Run& run) {
  const std::string stem = std::filesystem::path(output).replace_extension().string();
  const auto radii = static_cast<Index>(tables.rho.size());
  for (Index radius = 0; radius < radii; ++radius)
    draw(coefficient_chart(curves_at(tables, radius)), coefficient_chart_path(stem, radius, radii), run);
}

void require_coefficient_charts(const std::string& output, Index radii) {
  const std::string stem = std::filesystem::path(output).replace_extension().string();
  for (Index radius = 0; radius < radii; ++radius) require_chart(coefficient_chart_path(stem, radius, radii));
}

std::vector<double> evenly_spaced(double first, double last, Index count) {
  std::vector<double> values;
  for (Index i = 0; i < count; ++i)
    values.push_back(count == 1 ? first
                                : first + (last - first) * static_cast<double>(i) / static_cast<double>(count - 1));
  return values;
}

void apply_solver_settings(const SolverSettings& solver, Run& run) {
  if (solver.threads && !run.given("threads")) set_thread_count(static_cast<int>(*solver.threads));
  if (solver.device) run.ask_device(*solver.device);
}

void say_notes(const Notes& notes, Run& run) {
  for (const std::string& note : notes) {
    run.say("note      " + note);
    run.results()["notes"].push_back(note);
  }
}

void say_resolution(const Surface& surface, const GridSpec& grid, Run& run) {
  const auto note = resolution_note(surface, grid.n_theta, grid.n_zeta);
  if (note) say_notes({*note}, run);
}

void say_asymmetry(const Surface& surface, Run& run) {
  if (const auto note = asymmetry_note(surface)) say_notes({*note}, run);
}

void require_room(const Surface& surface, const GridSpec& grid, Run& run) {
  (void)run.host_budget().reserve(Plan::bytes_for(grid, surface.symmetric()),
                                  fmt::format("a grid of {} x {} points", grid.n_theta, grid.n_zeta),
                                  "take a smaller grid");
}

namespace {

/// Nothing where the file cannot tell and it is not needed, or no result is to have it.
std::optional<Lengths> lengths_where_wanted(const Equilibrium& equilibrium, const std::vector<double>& rho, bool needed,
                                            bool wanted) {
  try {
    if (wanted) return lengths_at(equilibrium, rho);
    if (needed) return Lengths{minor_radius(equilibrium, std::nullopt), {}};
  } catch (const Error& error) {
    if (needed || error.kind() != ErrorKind::bad_input) throw;
  }
  return std::nullopt;
}

}  // namespace

std::vector<PreparedSurface> prepare_surfaces(const RunFile& run_file, const std::vector<double>& rho, Wanted wanted,
                                              Run& run) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const SurfaceOptions& options = run_file.surface;
  const SurfaceType type = surface_type(options);
  if (type == SurfaceType::analytic || type == SurfaceType::dkes) {
    ReadSurface read = read_surface(options);
    if (!rho.empty())
      throw Error(ErrorKind::bad_input, fmt::format("{}: one surface, for which no radius can be chosen", options.path))
          .hint("leave out s and rho");
    say_notes(read.notes, run);
    say_resolution(read.surface, run_file.grid.spec(), run);
    const FieldScale scale = field_scale(read.surface);
    return {{.surface = std::move(read.surface), .scale = scale, .rho = none}};
  }
  const auto equilibrium = Equilibrium::open(options);
  std::vector<double> chosen;  // s
  if (rho.empty()) chosen.push_back(chosen_s(options, equilibrium));
  for (const double radius : rho) {
    if (!(radius > 0 && radius <= 1))
      throw Error(ErrorKind::bad_input,
                  fmt::format("{}: rho = {} is outside of 0 < rho <= 1", equilibrium.path(), radius));
    chosen.push_back(radius * radius);
  }
  std::vector<PreparedSurface> surfaces;
  std::vector<double> radii;
  for (const double at : chosen) {
    ReadSurface read = equilibrium.surface(at);
    say_notes(read.notes, run);
    say_resolution(read.surface, run_file.grid.spec(), run);
    radii.push_back(std::sqrt(read.surface.s));
    surfaces.push_back({.surface = std::move(read.surface), .scale = {}, .rho = radii.back()});
  }
  const auto lengths = lengths_where_wanted(equilibrium, radii, wanted.scale, wanted.lengths);
  if (!lengths) return surfaces;
  for (std::size_t i = 0; i < surfaces.size(); ++i) {
    surfaces[i].scale = field_scale(radii[i], lengths->a_b, std::abs(equilibrium.psi_a()));
    if (!wanted.lengths) continue;
    surfaces[i].a_b = lengths->a_b;
    surfaces[i].R0 = lengths->R0[i];
    surfaces[i].psi_a = equilibrium.psi_a();
  }
  return surfaces;
}

void report_grid(const GridSpec& grid, Run& run) {
  run.report().add_choice(
      "grid", Value(fmt::format("{} x {} x {}", grid.n_theta, grid.n_zeta, grid.n_xi)),
      fmt::format("angles of one field period, Legendre index 0 to {}, {}", grid.n_xi, name(grid.discretisation)));
}

void report_axis(const char* name, const std::vector<double>& values, const std::string& because, Run& run) {
  Value list = Value::list();
  for (const double value : values) list.push_back(value);
  run.report().add_choice(name, std::move(list), because);
}

void report_paths(const Plan& plan, std::span<const Case> cases, Run& run) {
  for (const bool field : {false, true}) {
    const auto first =
        std::find_if(cases.begin(), cases.end(), [&](const Case& each) { return (each.epsi_hat != 0) == field; });
    if (first == cases.end()) continue;
    const Choice<Path> path = plan.path(first->epsi_hat);
    run.report().add_choice(field ? "path with field" : "path without field", Value(std::string(name(path.value))),
                            path.because);
  }
}

void plan_points(const Plan& plan, std::span<const Case> cases, const ScanOptions& options, Run& run) {
  const Budget budget = options.batches ? options.batches->budget : run.host_budget();
  const Choice<Index> at_a_time = choose_scan_batch(plan, cases, budget, options);
  run.report().add_choice("at a time", at_a_time);
  if (run.dry_run()) run.show_memory(plan_scan_memory(plan, cases, at_a_time.value, options), budget);
}

Provenance provenance_of(const RunFile& run_file, Run& run) {
  const Value report = run.report().to_value();
  std::string warnings;
  for (const Value& message : report.find("messages")->items())
    if (text_at(message, "level") == "warning") warnings += (warnings.empty() ? "" : "\n") + text_at(message, "text");
  return {run_file.text(), geometry_source(run_file.surface.path), to_json(*report.find("phases"), -1), warnings};
}

}  // namespace sonde::neoclassical
