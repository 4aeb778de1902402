// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/results/live_coefficients.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "sonde/instruments/neoclassical/results/coefficient_chart.h"

namespace sonde::neoclassical {
namespace {

Value or_null(double value) { return std::isfinite(value) ? Value(value) : Value(); }

Value numbers(const std::vector<double>& values) {
  Value list = Value::list();
  for (const double value : values) list.push_back(or_null(value));
  return list;
}

/// "D11 (m^-3 T^-2)".
std::string with_unit(const std::string& title, const std::string& unit) {
  return unit.empty() ? title : fmt::format("{} ({})", title, unit);
}

/// The curves of a chart's panel as options of a panel "curves", evenly chosen where there are too many.
Value curves_of(const Facet& facet, const std::string& title, std::size_t most) {
  std::vector<const sonde::Series*> curves;
  for (const sonde::Series& series : facet.series)
    if (series.mark != Mark::points) curves.push_back(&series);
  Value options;
  options["x"]["name"] = facet.x.title;
  options["x"]["unit"] = facet.x.unit;
  options["y"]["unit"] = with_unit(title, facet.y.unit);
  options["log"]["x"] = facet.x.log;
  options["log"]["y"] = facet.y.log;
  options["curves"] = Value::list();
  if (curves.empty()) return options;
  options["places"] = numbers(curves.front()->x);
  options["x"]["first"] = or_null(curves.front()->x.front());
  options["x"]["last"] = or_null(curves.front()->x.back());
  const std::size_t shown = std::min(curves.size(), most);
  for (std::size_t i = 0; i < shown; ++i) {
    const sonde::Series& series = *curves[shown == 1 ? 0 : i * (curves.size() - 1) / (shown - 1)];
    Value& curve = options["curves"].push_back(Value::object());
    curve["name"] = series.name;
    curve["y"] = numbers(series.y);
  }
  if (shown < curves.size()) options["hint"] = fmt::format("{} of {} fields", shown, curves.size());
  return options;
}

}  // namespace

std::vector<panel::Panel> LiveCoefficients::panels() {
  return {{.id = "D11", .type = "curves", .title = "Radial transport D11"},
          {.id = "D31", .type = "curves", .title = "Bootstrap current D31"},
          {.id = "points", .type = "table", .title = "Points solved last"}};
}

void LiveCoefficients::add(Index radius, Index nu, Index field, const std::string& because) {
  latest_.push_front({radius, nu, field, because});
  if (latest_.size() > most_points) latest_.pop_back();
}

Value LiveCoefficients::latest_points(const CoefficientTables& tables) const {
  // A surface that is no part of an equilibrium has no radius.
  const bool radii = !tables.rho.empty() && !std::isnan(tables.rho.front());
  Value table;
  std::vector<std::string> columns = {"nu/v (1/m)",
                                      tables.field_name,
                                      with_unit("D11", tables.D11_unit),
                                      with_unit("D31", tables.D31_unit),
                                      "D33 (m)",
                                      ""};
  if (radii) columns.insert(columns.begin(), "rho");
  table["columns"] = columns;
  table["rows"] = Value::list();
  table["failed"] = Value::list();
  for (const Solved& point : latest_) {
    const auto at = [](Index i) { return static_cast<std::size_t>(i); };
    const std::size_t place =
        (at(point.radius) * tables.nu_v.size() + at(point.nu)) * tables.fields.size() + at(point.field);
    if (!point.because.empty()) table["failed"].push_back(static_cast<Index>(table["rows"].items().size()));
    Value& row = table["rows"].push_back(Value::list());
    const auto add = [&](double value) {
      row.push_back(std::isfinite(value) ? Value(fmt::format("{:.4g}", value)) : Value());
    };
    if (radii) add(tables.rho[at(point.radius)]);
    for (const double value : {tables.nu_v[at(point.nu)], tables.fields[at(point.field)], tables.D11[place],
                               tables.D31[place], tables.D33[place]})
      add(value);
    row.push_back(point.because);
  }
  return table;
}

Value LiveCoefficients::options(CoefficientTables tables) const {
  for (std::size_t i = 0; i < tables.D11.size(); ++i)
    if (tables.D11[i] == 0 && tables.D33[i] == 0)
      tables.D11[i] = tables.D31[i] = tables.D13[i] = tables.D33[i] = std::numeric_limits<double>::quiet_NaN();

  const Index radius = latest_.empty() ? 0 : latest_.front().radius;
  const Chart chart = coefficient_chart(curves_at(tables, radius), {.D33 = false, .onsager = false});
  Value panels;
  for (const auto& [id, facet] : {std::pair("D11", 0), std::pair("D31", 1)}) {
    const Facet& drawn = chart.facets[static_cast<std::size_t>(facet)];
    // Logarithmic axes show magnitudes.
    Value& options = panels[id] =
        curves_of(drawn, facet == 1 && drawn.y.log ? "|" + drawn.y.title + "|" : drawn.y.title, most_curves);
    const double rho = tables.rho[static_cast<std::size_t>(radius)];
    std::string hint = std::isnan(rho) ? "" : fmt::format("rho = {:.4g}", rho);
    if (const Value* some = options.find("hint")) hint += (hint.empty() ? "" : ", ") + some->as_text();
    options["hint"] = hint;
  }

  panels["points"] = latest_points(tables);
  return panels;
}

}  // namespace sonde::neoclassical
