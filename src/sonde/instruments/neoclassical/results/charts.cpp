// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/results/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/figure/image.h"
#include "sonde/engine/io/png.h"

namespace sonde::neoclassical {
namespace {

/// A panel of one quantity over nu, a curve per field.
Facet over_nu(const CoefficientCurves& curves, std::string title, Axis y, auto&& value) {
  Facet facet;
  facet.title = std::move(title);
  facet.x = {.title = "nu / v", .unit = "1/m", .log = true};
  facet.y = std::move(y);
  const std::size_t fields = curves.fields.size();
  for (std::size_t f = 0; f < fields; ++f) {
    sonde::Series series;
    series.name = fmt::format("{} = {:.3g}", curves.field_name, curves.fields[f]);
    series.x = curves.nu_v;
    for (std::size_t n = 0; n < curves.nu_v.size(); ++n) series.y.push_back(value(n * fields + f, n));
    facet.series.push_back(std::move(series));
  }
  return facet;
}

}  // namespace

CoefficientCurves curves_at(const CoefficientTables& tables, Index radius) {
  const std::size_t radii = tables.rho.size(), points = tables.nu_v.size() * tables.fields.size();
  if (radius < 0 || radius >= static_cast<Index>(radii))
    throw Error(ErrorKind::bad_input, fmt::format("radius {}: there are {}, counted from 0", radius, radii));
  const auto first = static_cast<std::size_t>(radius);
  const auto part = [&](const char* name, const std::vector<double>& table) {
    if (table.size() != points * radii)
      throw Error(ErrorKind::bad_input,
                  fmt::format("{} holds {} numbers, expected {} by its axes", name, table.size(), points * radii));
    const auto begin = table.begin() + static_cast<std::ptrdiff_t>(points * first);
    return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(points));
  };
  return {.title = std::isnan(tables.rho[first])
                       ? "Monoenergetic coefficients"
                       : fmt::format("Monoenergetic coefficients, rho = {:.4g}", tables.rho[first]),
          .field_name = tables.field_name,
          .nu_v = tables.nu_v,
          .fields = tables.fields,
          .D11 = part("D11", tables.D11),
          .D31 = part("D31", tables.D31),
          .D13 = part("D13", tables.D13),
          .D33 = part("D33", tables.D33),
          .onsager_residual = part("onsager_residual", tables.onsager_residual)};
}

Chart coefficient_chart(const CoefficientCurves& curves) {
  Chart chart;
  chart.title = curves.title;
  chart.columns = 2;
  const auto magnitude = [](double value) { return value == 0 ? std::nan("") : std::abs(value); };
  chart.facets.push_back(
      over_nu(curves, "Radial transport", {.title = "D11", .log = true},
              [&](std::size_t at, std::size_t) { return curves.D11[at] > 0 ? curves.D11[at] : std::nan(""); }));
  chart.facets.push_back(over_nu(curves, "Bootstrap current", {.title = "|D31|", .log = true},
                                 [&](std::size_t at, std::size_t) { return magnitude(curves.D31[at]); }));
  chart.facets.push_back(over_nu(curves, "Parallel conductivity", {.title = "nu D33"},
                                 [&](std::size_t at, std::size_t n) { return curves.nu_v[n] * curves.D33[at]; }));
  // Values below the last bits of a number are drawn at them: the axis is logarithmic.
  chart.facets.push_back(
      over_nu(curves, "Onsager symmetry", {.title = "|D13 + D31| / |D31|", .log = true},
              [&](std::size_t at, std::size_t) { return std::max(curves.onsager_residual[at], 1e-17); }));
  return chart;
}

Chart convergence_chart(const Study& study, const std::string& title, double tolerance) {
  Chart chart;
  chart.title = title;
  for (const Refined refined : {Refined::n_xi, Refined::n_theta, Refined::n_zeta}) {
    Facet facet;
    facet.title = fmt::format("refining {}", name(refined));
    facet.x = {.title = name(refined)};
    facet.y = {.title = "relative change", .log = true};
    facet.references.push_back({.value = tolerance, .label = "tolerance"});
    sonde::Series series{.name = "largest of D11, D31, D13, D33"};
    for (const StudyRow& row : study.rows) {
      if (row.refined != refined) continue;
      const GridSpec& grid = row.grid;
      series.x.push_back(static_cast<double>(refined == Refined::n_xi      ? grid.n_xi
                                             : refined == Refined::n_theta ? grid.n_theta
                                                                           : grid.n_zeta));
      series.y.push_back(std::max(row.change, 1e-17));
    }
    if (series.x.empty()) continue;
    facet.series.push_back(std::move(series));
    chart.facets.push_back(std::move(facet));
  }
  return chart;
}

void write_field_map(const std::string& path, const Series& b, int periods) {
  constexpr Index rows = 160, cols = 240;
  const std::vector<double> values = on_grid(b, {rows, cols, periods}).value;
  std::vector<double> upwards(values.size());
  for (Index i = 0; i < rows; ++i)
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(i * cols), cols,
                upwards.begin() + static_cast<std::ptrdiff_t>((rows - 1 - i) * cols));
  ImageStyle style;
  style.colours = ColourMap::viridis;
  style.low_percentile = 0;
  style.high_percentile = 100;
  style.colour_bar = true;
  style.zoom = 3;
  Array picture = render_image(Array::from(upwards, Shape{rows, cols}), style);
  std::vector<Panel> panels;
  panels.push_back({"|B| in T, theta (0 to 2 pi) over zeta of one period", std::move(picture)});
  write_png(path, montage(panels));
}

}  // namespace sonde::neoclassical
