// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/cli/neoclassical_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/report/json.h"
#include "sonde/instruments/neoclassical/batch/smoke_solve.h"
#include "sonde/instruments/neoclassical/geometry/resolution.h"
#include "sonde/instruments/neoclassical/tabulate/fingerprint.h"
#include "sonde/instruments/neoclassical/tabulate/radial_scales.h"

namespace sonde::cli {
namespace nc = neoclassical;

void RunFileFlags::describe(Fields& fields, const std::string& what, const std::string& metavar) {
  fields.positional("input", input,
                    {.help = "run file (.toml), the file of a surface, or analytic-demo", .metavar = "INPUT"});
  fields.add("output", output, {.help = what, .metavar = metavar, .letter = 'o'});
  fields.add("s", s, {.help = "surface.s of the run file, in place of any radius there"});
  fields.add("snap", snap, {.help = "surface.snap of the run file: the nearest surface of the file"});
  fields.add("wout", wout, {.help = "surface.wout of the run file", .metavar = "FILE"});
  fields.add("psi_a", psi_a, {.help = "surface.psi_a of the run file", .unit = "T m^2"});
  fields.add("n_theta", n_theta, {.help = "grid.n_theta of the run file, odd", .min = 1, .max = 1e4});
  fields.add("n_zeta", n_zeta, {.help = "grid.n_zeta of the run file, odd", .min = 1, .max = 1e4});
  fields.add("n_xi", n_xi, {.help = "grid.n_xi of the run file", .min = 2, .max = 1e4});
  fields.add("precision", precision, {.help = "solver.precision of the run file", .metavar = "auto|f64|f32-refine"});
  fields.add("set", set,
             {.help = "one setting of the run file, for instance grid.round_odd=true", .metavar = "TABLE.KEY=VALUE"});
}

void RunFileFlags::read(nc::RunFile& run) const {
  if (to_lower(std::filesystem::path(input).extension().string()) == ".toml")
    run.read(input);
  else
    run.surface.path = input;
  if (s) {
    run.surface.s = s;
    run.surface.rho.reset();
    run.surface.surface_index.reset();
    run.scan.rho.clear();
  }
  if (snap) run.surface.snap = true;
  if (wout) run.surface.wout = wout;
  if (psi_a) run.surface.psi_a = psi_a;
  if (n_theta) run.grid.n_theta = *n_theta;
  if (n_zeta) run.grid.n_zeta = *n_zeta;
  if (n_xi) run.grid.n_xi = *n_xi;
  Problems problems;
  if (precision) problems.collect([&] { run.tables().assign_text("solver.precision=" + *precision); });
  for (const std::string& setting : set) problems.collect([&] { run.tables().assign_text(setting); });
  problems.throw_if_any("the command line has several problems");
  if (run.output.report) require_place(*run.output.report);
}

void require_one_field(bool epsi_hat, bool er_hat, bool er_tilde) {
  if ((epsi_hat ? 1 : 0) + (er_hat ? 1 : 0) + (er_tilde ? 1 : 0) > 1)
    throw Error(ErrorKind::usage, "the electric field is given twice")
        .hint("keep one of --epsi-hat, --er-hat, --er-tilde");
}

void report_settings(const nc::RunFile& run, Context& context) {
  context.report().add_options("run_file", run.tables().echo());
}

void report_case(const nc::Case& at, const nc::FieldAxis& field, const nc::Surface& surface, const nc::GridSpec& grid,
                 Context& context) {
  Value& of = context.results()["case"];
  of["surface"] = surface.source;
  if (surface.s > 0) of["s"] = surface.s;
  of["nu_hat"] = at.nu_hat;
  of["epsi_hat"] = at.epsi_hat;
  if (field.kind != nc::FieldKind::epsi_hat) of[name(field.kind)] = field.values.front();
  of["n_theta"] = grid.n_theta;
  of["n_zeta"] = grid.n_zeta;
  of["n_xi"] = grid.n_xi;
  of["discretisation"] = std::string(name(grid.discretisation));
}

void take_processor(Context& context) {
  (void)context.device_for("computed on the CPU; `neoclassical scan` and `database` solve many points on a GPU");
}

std::optional<nc::BatchDevice> take_batch_device(const std::string& why_not, Context& context) {
  const nc::BatchDeviceChoice made = nc::choose_batch_device(context.device_asked(), why_not);
  context.use_device(made.chosen);
  for (const auto& [device, check] : made.checks) {
    context.report().check("smoke solve on " + device.name(), check.difference, nc::SmokeSolve::tolerance);
    if (check.failure.empty()) continue;
    context.results()["devices_left_out"].push_back(check.failure);
    context.say("note      " + check.failure);
  }
  if (made.chosen.value.is_cpu()) return std::nullopt;
  return nc::BatchDevice{made.chosen.value, context.budget()};
}

Choice<nc::Lane> choose_lane(std::optional<nc::Precision>& precision, const nc::GridSpec& grid, Index points,
                             const LaneLimits& limits, Context& context) {
  const std::string asked = context.device_asked();
  const std::vector<Device> devices = Device::all();
  const bool gpu_asked = asked.starts_with("cuda");
  const bool gpu_open = asked == "auto" && limits.gpu &&
                        std::any_of(devices.begin(), devices.end(), [](Device each) { return !each.is_cpu(); });
  std::vector<nc::Lane> possible;  // what the rule takes comes first
  if (precision != nc::Precision::f32_refine) {
    if (gpu_open || gpu_asked) possible.push_back(nc::Lane::gpu);
    if (!gpu_asked) possible.push_back(nc::Lane::cpu_f64);
  }
  if (precision != nc::Precision::f64 && !gpu_asked) possible.push_back(nc::Lane::cpu_f32_refine);
  Choice<nc::Lane> made{possible.empty() ? nc::Lane::cpu_f32_refine : possible.front(), "as asked"};
  if (possible.size() > 1) {
    const nc::KeptMap kept = limits.map ? nc::kept_crossover_map() : nc::KeptMap{};
    if (!kept.note.empty()) say_notes({kept.note}, context);
    if (kept.scans.empty()) {
      made.because = limits.map ? "by rule, no map of this machine: `sonde bench neoclassical-crossover` makes one"
                                : "by rule: several processes share points";
    } else {
      made = nc::fastest_lane(kept.scans, grid.n_theta * grid.n_zeta, points, thread_count(), possible);
      made.because = fmt::format("by the map of this machine, {}: {}", nc::crossover_map_path(), made.because);
    }
    context.report().add_choice("lane", Value(nc::name(made.value)), made.because);
  }
  if (!precision) precision = made.value == nc::Lane::cpu_f32_refine ? nc::Precision::f32_refine : nc::Precision::f64;
  return made;
}

std::string why_no_gpu(std::string why_not, const Choice<nc::Lane>& lane, const Context& context) {
  return why_not.empty() && lane.value != nc::Lane::gpu && context.device_asked() == "auto" ? lane.because
                                                                                            : std::move(why_not);
}

void say_batches(Index points, Index in_batches, Context& context) {
  context.results()["points_on_gpu"] = in_batches;
  if (in_batches < points)
    context.say(fmt::format("note      {} of {} points by the CPU: the GPU found no answer to them",
                            points - in_batches, points));
}

Ranks join_ranks(Context& context) {
  const Ranks ranks = Ranks::world();
  if (ranks.rank() != 0) context.be_silent();
  context.share_machine(ranks.on_this_machine());
  if (ranks.size() > 1)
    context.report().add_choice("ranks", Value(ranks.size()), "started together: work goes to whoever is free");
  return ranks;
}

void say_ranks(const std::vector<Index>& points_of_rank, Context& context) {
  Value& results = context.results();
  results["ranks"] = points_of_rank.size();
  results["points_per_rank"] = points_of_rank;
  if (points_of_rank.size() > 1)
    context.say(fmt::format("ranks     {}, points {}", points_of_rank.size(), fmt::join(points_of_rank, ", ")));
}

void say_times(Context& context) {
  const Value report = context.report().to_value();
  std::string text;
  double total = 0;
  for (const Value& phase : report.find("phases")->items()) {
    total += number_at(phase, "first_s");
    text += fmt::format("{} {}, ", text_at(phase, "name"), format_seconds(number_at(phase, "first_s")));
  }
  context.say(fmt::format("times     {}total {}; peak {}", text, format_seconds(total),
                          format_bytes(number_at(*report.find("memory"), "peak_rss_bytes"))));
}

void end_run(const nc::RunFile& run, Context& context) {
  say_times(context);
  if (run.logging.verbose) context.say(context.report().to_text());
  if (run.output.report && context.given_flag("report").empty()) {
    context.report().write(*run.output.report);
    context.say("wrote     " + *run.output.report);
  }
}

void say_fallback(Index fell_back, Context& context) {
  context.results()["points_in_f64"] = fell_back;
  if (fell_back > 0)
    context.say(fmt::format("note      {} points needed f64: precision_code of the file has them", fell_back));
}

void draw(const Chart& chart, const std::string& path, Context& context) {
  for (const std::string& file : write_chart(path, chart).all()) {
    context.results()["files"].push_back(file);
    context.say("wrote     " + file);
  }
}

void draw_coefficients(const nc::CoefficientTables& tables, const std::string& output, Context& context) {
  const std::string stem = std::filesystem::path(output).replace_extension().string();
  const auto radii = static_cast<Index>(tables.rho.size());
  for (Index radius = 0; radius < radii; ++radius) {
    const std::string path = radii > 1 ? fmt::format("{}_rho{}", stem, radius + 1) : stem;
    draw(coefficient_chart(curves_at(tables, radius)), path, context);
  }
}

std::vector<double> evenly_spaced(double first, double last, Index count) {
  std::vector<double> values;
  for (Index i = 0; i < count; ++i)
    values.push_back(count == 1 ? first
                                : first + (last - first) * static_cast<double>(i) / static_cast<double>(count - 1));
  return values;
}

void apply_solver_settings(const nc::SolverSettings& solver, Context& context) {
  if (solver.threads && context.given_flag("threads").empty()) set_thread_count(static_cast<int>(*solver.threads));
  if (solver.device) context.ask_device(*solver.device);
}

void say_notes(const nc::Notes& notes, Context& context) {
  for (const std::string& note : notes) {
    context.say("note      " + note);
    context.results()["notes"].push_back(note);
  }
}

void say_resolution(const nc::Surface& surface, const nc::GridSpec& grid, Context& context) {
  const auto note = nc::resolution_note(surface, grid.n_theta, grid.n_zeta);
  if (note) say_notes({*note}, context);
}

void say_asymmetry(const nc::Surface& surface, Context& context) {
  if (const auto note = nc::asymmetry_note(surface)) say_notes({*note}, context);
}

void require_room(const nc::Surface& surface, const nc::GridSpec& grid, Context& context) {
  (void)context.host_budget().reserve(nc::Plan::bytes_for(grid, surface.symmetric()),
                                      fmt::format("a grid of {} x {} points", grid.n_theta, grid.n_zeta),
                                      "take a smaller grid");
}

namespace {

/// Nothing where the file cannot tell and it is not needed, or no result is to have it.
std::optional<nc::Lengths> lengths_where_wanted(const nc::Equilibrium& equilibrium, const std::vector<double>& rho,
                                                bool needed, bool wanted) {
  try {
    if (wanted) return nc::lengths_at(equilibrium, rho);
    if (needed) return nc::Lengths{nc::minor_radius(equilibrium, std::nullopt), {}};
  } catch (const Error& error) {
    if (needed || error.kind() != ErrorKind::bad_input) throw;
  }
  return std::nullopt;
}

}  // namespace

std::vector<PreparedSurface> prepare_surfaces(const nc::RunFile& run, const std::vector<double>& rho, Wanted wanted,
                                              Context& context) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const nc::SurfaceOptions& options = run.surface;
  const nc::SurfaceType type = nc::surface_type(options);
  if (type == nc::SurfaceType::analytic || type == nc::SurfaceType::dkes) {
    nc::ReadSurface read = nc::read_surface(options);
    if (!rho.empty())
      throw Error(ErrorKind::bad_input, fmt::format("{}: one surface, for which no radius can be chosen", options.path))
          .hint("leave out s and rho");
    say_notes(read.notes, context);
    say_resolution(read.surface, run.grid.spec(), context);
    const nc::FieldScale scale = nc::field_scale(read.surface);
    return {{.surface = std::move(read.surface), .scale = scale, .rho = none}};
  }
  const auto equilibrium = nc::Equilibrium::open(options);
  std::vector<double> chosen;  // s
  if (rho.empty()) chosen.push_back(nc::chosen_s(options, equilibrium));
  for (const double radius : rho) {
    if (!(radius > 0 && radius <= 1))
      throw Error(ErrorKind::bad_input,
                  fmt::format("{}: rho = {} is outside of 0 < rho <= 1", equilibrium.path(), radius));
    chosen.push_back(radius * radius);
  }
  std::vector<PreparedSurface> surfaces;
  std::vector<double> radii;
  for (const double at : chosen) {
    nc::ReadSurface read = equilibrium.surface(at);
    say_notes(read.notes, context);
    say_resolution(read.surface, run.grid.spec(), context);
    radii.push_back(std::sqrt(read.surface.s));
    surfaces.push_back({.surface = std::move(read.surface), .scale = {}, .rho = radii.back()});
  }
  const auto lengths = lengths_where_wanted(equilibrium, radii, wanted.scale, wanted.lengths);
  if (!lengths) return surfaces;
  for (std::size_t i = 0; i < surfaces.size(); ++i) {
    surfaces[i].scale = nc::field_scale(radii[i], lengths->a_b, std::abs(equilibrium.psi_a()));
    if (!wanted.lengths) continue;
    surfaces[i].a_b = lengths->a_b;
    surfaces[i].R0 = lengths->R0[i];
    surfaces[i].psi_a = equilibrium.psi_a();
  }
  return surfaces;
}

void report_grid(const nc::GridSpec& grid, Context& context) {
  context.report().add_choice(
      "grid", Value(fmt::format("{} x {} x {}", grid.n_theta, grid.n_zeta, grid.n_xi)),
      fmt::format("angles of one field period, Legendre index 0 to {}, {}", grid.n_xi, name(grid.discretisation)));
}

void report_axis(const char* name, const std::vector<double>& values, const std::string& because, Context& context) {
  Value list = Value::list();
  for (const double value : values) list.push_back(value);
  context.report().add_choice(name, std::move(list), because);
}

void report_paths(const nc::Plan& plan, std::span<const nc::Case> cases, Context& context) {
  std::size_t most = 0;
  for (const bool field : {false, true}) {
    const auto first =
        std::find_if(cases.begin(), cases.end(), [&](const nc::Case& each) { return (each.epsi_hat != 0) == field; });
    if (first == cases.end()) continue;
    const Choice<nc::Path> path = plan.path(first->epsi_hat);
    context.report().add_choice(field ? "path with field" : "path without field", Value(std::string(name(path.value))),
                                path.because);
    most = std::max(most, plan.workspace_bytes(path.value) + plan.fallback_bytes(path.value));
  }
  context.report().add_choice("memory", Value(format_bytes(static_cast<double>(plan.bytes() + most))),
                              "operators of a radius, and at most one point at a time; more points hold " +
                                  format_bytes(static_cast<double>(most)) + " each");
}

nc::Provenance provenance_of(const nc::RunFile& run, Context& context) {
  const Value report = context.report().to_value();
  std::string warnings;
  for (const Value& message : report.find("messages")->items())
    if (text_at(message, "level") == "warning") warnings += (warnings.empty() ? "" : "\n") + text_at(message, "text");
  return {run.text(), nc::geometry_source(run.surface.path), to_json(*report.find("phases"), -1), warnings};
}

}  // namespace sonde::cli
