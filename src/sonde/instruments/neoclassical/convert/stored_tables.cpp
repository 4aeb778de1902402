// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/convert/stored_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/neoclassical/convert/conversions.h"
#include "sonde/instruments/neoclassical/convert/result_contents.h"
#include "sonde/instruments/neoclassical/convert/sfincs_output.h"

namespace sonde::neoclassical {
namespace {

/// What describes a surface, and its units, as converted() adds it.
constexpr std::array<std::pair<const char*, const char*>, 8> of_surfaces = {{{"B0", "T"},
                                                                             {"iota", "1"},
                                                                             {"G", "T m"},
                                                                             {"I", "T m"},
                                                                             {"psi_p", "T m"},
                                                                             {"r", "m"},
                                                                             {"R0", "m"},
                                                                             {"signgs", "1"}}};

/// How the six of stored_names() lie over the axes.
enum class Over { all, collisionality, field };
Over over(std::size_t which) { return which < 4 ? Over::all : which == 4 ? Over::collisionality : Over::field; }

/// The tables of a file, a radius at a time.
class Tables {
 public:
  Tables(const StoredNumbers& stored, const ConversionSettings& settings) : stored_(stored), settings_(settings) {
    rho = line("rho");
    nu_v = line("nu_v");
    field = line(is_database() ? "Er_tilde" : "field");
    if (settings.radius && rho.size() > 1)
      throw Error(ErrorKind::bad_input,
                  fmt::format("radius is that of one surface, but the tables have {}", rho.size()))
          .hint(setting("minor_radius") + " gives that of each");
    if (settings.from != Normalisation::ntx && !was_converted())
      throw Error(ErrorKind::bad_input, "a scan or a database is in the normalisation ntx")
          .hint("leave out " + setting("from"));
    if (settings.psi_a && (was_converted() || std::isnan(rho.front())))
      throw Error(ErrorKind::bad_input, "psi_a has no meaning for tables that are not per s").hint("leave it out");
    if (settings.minor_radius && std::isnan(rho.front()))
      throw Error(ErrorKind::bad_input, "minor_radius says no radius of a surface whose s is not stored")
          .hint(setting("radius") + ", that of the surface");
  }

  std::vector<double> rho, nu_v, field;

  /// The points of one radius, [nu][field], with what the surface is: as converted() takes them.
  [[nodiscard]] StoredNumbers points(std::size_t radius) const {
    return was_converted() ? points_as_stored(radius) : points_per_psi(radius);
  }
  /// What was given in place of its own minor radius.
  [[nodiscard]] std::optional<double> given_radius(std::size_t radius) const {
    if (settings_.radius || !settings_.minor_radius) return settings_.radius;
    return *settings_.minor_radius * rho[radius];
  }

 private:
  [[nodiscard]] bool is_database() const { return stored_.contains("Er_tilde"); }
  [[nodiscard]] bool was_converted() const { return stored_.contains("psi_p"); }
  [[nodiscard]] bool has(const std::string& name) const { return stored_.contains(name); }

  [[nodiscard]] const std::vector<double>& line(const std::string& name) const {
    const auto found = stored_.find(name);
    if (found == stored_.end())
      throw Error(ErrorKind::bad_input, fmt::format("no quantity {}, so these are not tables of this kind", name));
    if (found->second.empty()) throw Error(ErrorKind::bad_input, fmt::format("{} holds no number", name));
    return found->second;
  }
  [[nodiscard]] const std::vector<double>& table(const std::string& name, std::size_t size) const {
    const std::vector<double>& values = line(name);
    if (values.size() != size)
      throw Error(ErrorKind::bad_input,
                  fmt::format("{} holds {} numbers, expected {} by its axes", name, values.size(), size));
    return values;
  }
  [[nodiscard]] double of_radius(const std::string& name, std::size_t radius) const {
    return table(name, rho.size())[radius];
  }
  [[nodiscard]] double of_radius_or(const std::string& name, std::size_t radius, double otherwise) const {
    return has(name) ? of_radius(name, radius) : otherwise;
  }

  /// One of the six over [nu][field] of a radius.
  [[nodiscard]] std::vector<double> spread(const std::string& name, Over over, std::size_t radius) const {
    const std::size_t nus = over == Over::field ? 1 : nu_v.size(),
                      fields = over == Over::collisionality ? 1 : field.size();
    const std::vector<double>& values = table(name, rho.size() * nus * fields);
    std::vector<double> made;
    for (std::size_t nu = 0; nu < nu_v.size(); ++nu)
      for (std::size_t e = 0; e < field.size(); ++e)
        made.push_back(values[(radius * nus + (nus > 1 ? nu : 0)) * fields + (fields > 1 ? e : 0)]);
    return made;
  }

  [[nodiscard]] StoredNumbers points_as_stored(std::size_t radius) const {
    StoredNumbers made;
    const std::array<std::string, 6> names = stored_names(settings_.from);
    for (std::size_t k = 0; k < names.size(); ++k) made[names[k]] = spread(names[k], over(k), radius);
    for (const auto& [name, unit] : of_surfaces)
      if (has(name)) made[name] = {of_radius(name, radius)};
    return made;
  }

  /// The edge flux / 2 pi, signed; 0 where it is not known.
  [[nodiscard]] double psi_a(const ConversionGeometry& geometry) const {
    double own = 0;
    if (has("psi_a")) own = table("psi_a", 1).front();
    // dr_tilde/dr = 2 |psi_a| / (a_b^2 B_00). Without G the sign is not known, which matters where only it counts.
    if (is_database() && geometry.G != 0)
      own = std::copysign(line("dr_tildedr").front() * minor_radius() * minor_radius() * line("B00").front() / 2,
                          geometry.G + geometry.iota * geometry.I);
    if (!settings_.psi_a) return own;
    if (own != 0) require_same_flux(*settings_.psi_a, own);
    return own != 0 ? own : *settings_.psi_a;
  }
  [[nodiscard]] double minor_radius() const {
    if (is_database()) return 2 * rho.front() * line("drds").front();
    return has("a_b") ? table("a_b", 1).front() : 0;
  }

  [[nodiscard]] ConversionGeometry geometry(std::size_t radius) const {
    ConversionGeometry made;
    made.B0 = of_radius(is_database() && !has("B0_solver") ? "B00" : is_database() ? "B0_solver" : "B0", radius);
    made.iota = of_radius("iota", radius);
    made.G = of_radius_or("G", radius, 0);
    made.I = of_radius_or("I", radius, 0);
    made.R0 = settings_.major_radius.value_or(of_radius_or(is_database() ? "R00" : "R0", radius, 0));
    // Equilibria have the angles of VMEC unless the file says otherwise, which databases of other programs do not.
    made.signgs = of_radius_or("signgs", radius, std::isnan(rho[radius]) ? 1 : -1);
    made.r = given_radius(radius).value_or(std::isnan(rho[radius]) ? 0 : minor_radius() * rho[radius]);
    return made;
  }

  /// From the label that the solver had: s of an equilibrium, or one of its own.
  [[nodiscard]] StoredNumbers points_per_psi(std::size_t radius) const {
    ConversionGeometry surface = geometry(radius);
    const bool in_s = !std::isnan(rho[radius]);
    const double slope = in_s ? psi_a(surface) : of_radius("psi_scale", radius);
    if (in_s && slope == 0)
      throw Error(ErrorKind::bad_input, "the tables are per s, and the file does not say psi_a, dpsi/ds")
          .hint(setting("psi_a") + ", toroidal flux of the edge / 2 pi with its sign");
    // s = (r / a_b)^2: ds/dr = 2 s / r. Without r there is no slope, and what needs it says so.
    surface.psi_p = !in_s ? slope : surface.r > 0 ? slope * 2 * rho[radius] * rho[radius] / surface.r : 0;
    const std::array<std::vector<double>, 4> d = {spread("D11", Over::all, radius), spread("D31", Over::all, radius),
                                                  spread("D13", Over::all, radius), spread("D33", Over::all, radius)};
    // A surface with a label of its own has the field per psi already.
    const std::vector<double> e_hat = spread(is_database() ? "Es" : "epsi_hat", Over::field, radius);
    StoredNumbers made;
    for (std::size_t i = 0; i < d[0].size(); ++i) {
      const Dij psi = relabelled({d[0][i], d[1][i], d[2][i], d[3][i]}, slope);
      made["D11"].push_back(psi.D11);
      made["D31"].push_back(psi.D31);
      made["D13"].push_back(psi.D13);
      made["D33"].push_back(psi.D33);
      made["nu_hat"].push_back(nu_v[i / field.size()]);
      made["e_hat"].push_back(in_s ? e_hat[i] / slope : e_hat[i]);
    }
    made["B0"] = {surface.B0};
    made["iota"] = {surface.iota};
    made["G"] = {surface.G};
    made["I"] = {surface.I};
    made["psi_p"] = {surface.psi_p};
    made["r"] = {surface.r};
    made["R0"] = {surface.R0};
    made["signgs"] = {surface.signgs};
    return made;
  }

  const StoredNumbers& stored_;
  const ConversionSettings& settings_;
};

/// Of one radius what `over` has one value for each of.
std::vector<double> gathered(const std::vector<double>& points, Over over, std::size_t fields) {
  if (over == Over::all) return points;
  if (over == Over::field) return {points.begin(), points.begin() + static_cast<std::ptrdiff_t>(fields)};
  std::vector<double> made;
  for (std::size_t i = 0; i < points.size(); i += fields) made.push_back(points[i]);
  return made;
}

}  // namespace

Shape Converted::shape(const std::string& name) const {
  const auto size = [](const std::vector<double>& values) { return static_cast<Index>(values.size()); };
  if (nu_v.empty()) return {size(numbers.at(name))};
  const std::array<std::string, 6> names = stored_names(normalisation);
  const auto which = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  if (which == names.size()) return {size(rho)};
  switch (over(which)) {
    case Over::all:
      return {size(rho), size(nu_v), size(field)};
    case Over::collisionality:
      return {size(rho), size(nu_v)};
    case Over::field:
      break;
  }
  return {size(rho), size(field)};
}

Converted converted_file(const StoredNumbers& stored, const ConversionSettings& settings) {
  Converted made{.normalisation = settings.to, .numbers = {}, .rho = {}, .nu_v = {}, .field = {}};
  if (const std::optional<StoredNumbers> point = point_of_sfincs_output(stored)) {
    ConversionSettings of_sfincs = settings;
    of_sfincs.from = Normalisation::sfincs;  // the file says so
    made.numbers = converted(*point, of_sfincs);
    return made;
  }
  if (!stored.contains("nu_v")) {
    made.numbers = converted(stored, settings);
    return made;
  }
  const Tables tables(stored, settings);
  made.rho = tables.rho;
  made.nu_v = tables.nu_v;
  made.field = tables.field;
  ConversionSettings of_points{.from = settings.from, .to = settings.to, .major_radius = settings.major_radius};
  const std::array<std::string, 6> names = stored_names(settings.to);
  for (std::size_t radius = 0; radius < tables.rho.size(); ++radius) {
    of_points.radius = tables.given_radius(radius);
    const StoredNumbers points =
        during(fmt::format("at radius {}", radius), [&] { return converted(tables.points(radius), of_points); });
    for (std::size_t k = 0; k < names.size(); ++k) {
      const std::vector<double> values = gathered(points.at(names[k]), over(k), tables.field.size());
      made.numbers[names[k]].insert(made.numbers[names[k]].end(), values.begin(), values.end());
    }
    for (const auto& [name, unit] : of_surfaces) made.numbers[name].push_back(points.at(name).front());
  }
  return made;
}

Contents contents_of(const Converted& made) {
  Contents contents = result_contents();
  const bool tables = !made.nu_v.empty();
  const auto add = [&](const std::string& name, const std::vector<double>& values, const Shape& shape,
                       const std::vector<std::string>& dimensions, const std::string& unit) -> auto& {
    Contents::Variable& variable = !tables && values.size() == 1
                                       ? contents.add(name, values.front())
                                       : contents.add(name, dimensions, Array::from(values, shape));
    return variable.unit(unit).attributes;
  };
  const auto axis = [&](const char* name, const std::vector<double>& values, const char* unit) {
    if (tables) add(name, values, {static_cast<Index>(values.size())}, {name}, unit);
  };
  axis("rho", made.rho, "1");
  axis("nu_v", made.nu_v, "m^-1");
  axis("field", made.field, "");
  const std::array<std::string, 6> names = stored_names(made.normalisation), units = stored_units(made.normalisation);
  const std::array<std::vector<std::string>, 3> over_axes = {
      {{"rho", "nu_v", "field"}, {"rho", "nu_v"}, {"rho", "field"}}};
  for (std::size_t k = 0; k < names.size(); ++k)
    add(names[k], made.numbers.at(names[k]), made.shape(names[k]),
        tables ? over_axes[static_cast<std::size_t>(over(k))] : std::vector<std::string>{"point"}, units[k])
        .emplace_back("normalisation", std::string(name(made.normalisation)));
  for (const auto& [name, unit] : of_surfaces)
    add(name, made.numbers.at(name), made.shape(name), {tables ? "rho" : "surface"}, unit);
  contents.add_text("normalisation", name(made.normalisation));
  return contents;
}

}  // namespace sonde::neoclassical
