// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/cli/neoclassical_settings.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/report/json.h"
#include "sonde/instruments/neoclassical/tabulate/radial_scales.h"

namespace sonde::cli {
namespace nc = neoclassical;

void resolve_settings(const std::string& input, const std::vector<std::string>& set, nc::RunFile& run) {
  if (to_lower(std::filesystem::path(input).extension().string()) == ".toml")
    run.read(input);
  else
    run.surface.path = input;
  Problems problems;
  for (const std::string& setting : set) problems.collect([&] { run.tables().assign_text(setting); });
  problems.throw_if_any("the command line has several problems");
}

void take_processor(Context& context) { (void)context.device_for("neoclassical transport is computed on the CPU"); }

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

void apply_solver_settings(const nc::SolverSettings& solver, Context& context) {
  if (solver.threads && context.given_flag("threads").empty()) set_thread_count(static_cast<int>(*solver.threads));
}

void say_notes(const nc::Notes& notes, Context& context) {
  for (const std::string& note : notes) {
    context.say("note      " + note);
    context.results()["notes"].push_back(note);
  }
}

std::vector<PreparedSurface> prepare_surfaces(const nc::RunFile& run, const std::vector<double>& rho, bool needs_scale,
                                              Context& context) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  nc::SurfaceOptions options = run.surface;
  const nc::SurfaceType type = options.type != nc::SurfaceType::automatic || options.path == "analytic-demo"
                                   ? options.type
                                   : nc::recognise_surface(options.path);
  const bool many = type == nc::SurfaceType::vmec || type == nc::SurfaceType::boozmn || type == nc::SurfaceType::bc;
  if (!many) {
    if (!rho.empty())
      throw Error(ErrorKind::bad_input, fmt::format("{}: one surface, for which no radius can be chosen", options.path))
          .hint("leave out s and rho");
    nc::ReadSurface read = nc::read_surface(options);
    say_notes(read.notes, context);
    const nc::FieldScale scale = nc::field_scale(read.surface);
    return {{std::move(read.surface), scale, none}};
  }
  const auto equilibrium = nc::Equilibrium::open(options);
  say_notes(equilibrium.notes(), context);
  const double a_b = needs_scale ? nc::minor_radius(equilibrium, std::nullopt) : none;
  std::vector<PreparedSurface> surfaces;
  const auto add = [&](nc::ReadSurface read) {
    say_notes(read.notes, context);
    const double radius = std::sqrt(read.surface.s);
    const nc::FieldScale scale =
        needs_scale ? nc::field_scale(radius, a_b, std::abs(equilibrium.psi_a())) : nc::FieldScale{};
    surfaces.push_back({std::move(read.surface), scale, radius});
  };
  if (rho.empty()) add(nc::read_surface(options));
  for (const double radius : rho) add(equilibrium.surface(radius * radius));
  return surfaces;
}

void report_grid(const nc::GridSpec& grid, Context& context) {
  context.report().add_choice(
      "grid", Value(fmt::format("{} x {} x {}", grid.n_theta, grid.n_zeta, grid.n_xi)),
      fmt::format("angles of one field period, Legendre index 0 to {}, {}", grid.n_xi, name(grid.discretisation)));
}

nc::Provenance provenance_of(const nc::RunFile& run, Context& context) {
  const Value report = context.report().to_value();
  return {run.text(), nc::geometry_source(run.surface.path), to_json(*report.find("phases"), -1)};
}

}  // namespace sonde::cli
