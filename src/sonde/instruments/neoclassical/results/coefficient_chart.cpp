// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/results/coefficient_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sonde/engine/figure/colour.h"

namespace sonde::neoclassical {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr const char *grey = "#555555", *red = "#cc1122";
// Where D13 and -D31 differ by more than a per cent, the grid does not resolve D31.
constexpr double onsager_limit = 0.01;

/// Black for no field, then by rank of |E| from the dark end of viridis to where it is still seen on white.
std::vector<std::string> colours_of(const std::vector<double>& fields) {
  std::vector<double> sizes;
  for (const double field : fields)
    if (field != 0) sizes.push_back(std::abs(field));
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  std::vector<std::string> colours;
  for (const double field : fields) {
    const auto rank =
        static_cast<double>(std::lower_bound(sizes.begin(), sizes.end(), std::abs(field)) - sizes.begin());
    const double place = sizes.size() < 2 ? 0.4 : 0.08 + 0.82 * rank / static_cast<double>(sizes.size() - 1);
    const Colour& colour = colour_table(ColourMap::viridis)[static_cast<std::size_t>(255 * place)];
    colours.push_back(field == 0 ? "#111111"
                                 : fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue));
  }
  return colours;
}

/// The points of a surface as they are drawn: dimensionless where that is possible.
struct Drawn {
  Axis x, y11, y31;
  std::vector<double> at;             ///< of each nu
  std::vector<double> D11, D31, D33;  ///< [nu][field]
};

Drawn drawn(const CoefficientCurves& curves) {
  Drawn made{.x = {.title = "ν/v", .unit = "1/m", .log = true},
             .y11 = {.title = "D11", .unit = curves.D11_unit, .log = true},
             .y31 = {.title = "D31", .unit = curves.D31_unit, .log = true},
             .at = curves.nu_v,
             .D11 = curves.D11,
             .D31 = curves.D31,
             .D33 = curves.D33};
  if (curves.geometry) {
    made.x = {.title = "ν* = R0 ν / (|ι| v)", .log = true};
    made.y11.title = "D11*", made.y31.title = "D31*";
    made.y11.unit = made.y31.unit = "";
  }
  const std::size_t fields = curves.fields.size();
  for (std::size_t i = 0; i < curves.D11.size(); ++i) {
    const double nu = curves.nu_v[i / fields];
    made.D33[i] = 1.5 * nu * curves.D33[i];
    if (!curves.geometry) continue;
    const StarPoint star =
        to_stars({{curves.D11[i], curves.D31[i], curves.D13[i], curves.D33[i]}, nu, 0}, *curves.geometry);
    made.D11[i] = star.D11_star;
    made.D31[i] = star.D31_star;
    made.at[i / fields] = star.nu_star;
  }
  return made;
}

/// Whether D13 = -D31 has to hold at a point.
bool onsager_holds(const CoefficientCurves& curves, std::size_t point) {
  return curves.symmetric || curves.fields[point % curves.fields.size()] == 0;
}

bool answered(const CoefficientCurves& curves, std::size_t point) {
  return std::isfinite(curves.D11[point]) && std::isfinite(curves.D31[point]) && std::isfinite(curves.D33[point]);
}

/// D11 and D33 do not depend on how well D31 is resolved: Spitzer's limit is exact where D31 is all rounding.
bool is_sound(const CoefficientCurves& curves, std::size_t point, bool of_D31) {
  return curves.D11[point] > 0 && curves.D33[point] > 0 &&
         !(of_D31 && onsager_holds(curves, point) && curves.onsager_residual[point] > onsager_limit);
}

/// The power of ten below the smallest magnitude.
double lower_edge(const std::vector<double>& values) {
  double least = std::numeric_limits<double>::infinity();
  for (const double value : values)
    if (std::isfinite(value) && value != 0) least = std::min(least, std::abs(value));
  return std::isfinite(least) ? std::pow(10, std::floor(std::log10(least) - 0.02)) : 0.1;
}

sonde::Series marks(std::string name, Symbol symbol, const char* colour) {
  return {.name = std::move(name), .mark = Mark::points, .symbol = symbol, .colour = colour};
}

/// A panel of one coefficient over nu: a curve per field, and what says of single points what they are.
Facet panel(const CoefficientCurves& curves, const Drawn& drawn, const std::vector<double>& values, Facet facet) {
  const bool of_D31 = &values == &drawn.D31;
  const std::size_t fields = curves.fields.size();
  const std::vector<std::string> colours = colours_of(curves.fields);
  facet.x = drawn.x;
  const bool log = facet.y.log;
  if (!facet.y.low) facet.y.low = log ? lower_edge(values) : 0;
  const auto place = [&](double value) { return log ? std::abs(value) : value; };
  sonde::Series below = marks("below 0, drawn as its magnitude", Symbol::ring, grey),
                wrong = marks("doubtful: D11 or D33 ≤ 0, for D31 also Onsager > 1 %", Symbol::cross, red),
                edge = marks(log ? "0, at the lower edge" : "", Symbol::disc, grey),
                none = marks("no answer, at the lower edge", Symbol::cross, "#111111");
  std::vector<sonde::Series> negative;
  for (std::size_t f = 0; f < fields; ++f) {
    sonde::Series curve{.name = fmt::format("{} = {:.3g}", curves.field_name, curves.fields[f]), .x = drawn.at};
    sonde::Series open = marks("", Symbol::ring, colours[f].c_str());
    curve.colour = colours[f];
    for (std::size_t n = 0; n < drawn.at.size(); ++n) {
      const std::size_t point = n * fields + f;
      const double x = drawn.at[n], value = values[point];
      const auto put = [x](sonde::Series& series, double y) {
        series.x.push_back(x);
        series.y.push_back(y);
      };
      const bool there = answered(curves, point) && std::isfinite(value);
      curve.y.push_back(there && (value != 0 || !log) ? place(value) : nan);
      if (!there) {
        put(none, *facet.y.low);
        continue;
      }
      if (value == 0 && log) put(edge, *facet.y.low);
      if (value < 0 && log) put(open, -value);
      if (!is_sound(curves, point, of_D31)) put(wrong, value == 0 && log ? *facet.y.low : place(value));
      if (!log && value < *facet.y.low) facet.y.low = std::nullopt, facet.y.low = value * 1.1;
    }
    facet.series.push_back(std::move(curve));
    if (!open.x.empty()) negative.push_back(std::move(open));
  }
  // The ring of the legend has no field's colour.
  if (!negative.empty()) {
    below.x = below.y = {nan};
    facet.series.push_back(std::move(below));
  }
  for (sonde::Series& open : negative) facet.series.push_back(std::move(open));
  for (sonde::Series* each : {&edge, &wrong, &none})
    if (!each->x.empty()) facet.series.push_back(std::move(*each));
  return facet;
}

/// |D13 + D31| / |D31|, of the points where it has to vanish.
Facet onsager_panel(const CoefficientCurves& curves, const Drawn& drawn) {
  Facet facet{
      .title = curves.symmetric ? "Onsager symmetry" : "Onsager symmetry: only at E = 0, without stellarator symmetry",
      .x = drawn.x,
      .y = {.title = "|D13 + D31| / |D31|", .log = true},
      .references = {{.value = onsager_limit, .label = "above: D31 is not resolved"}}};
  const std::size_t fields = curves.fields.size();
  const std::vector<std::string> colours = colours_of(curves.fields);
  for (std::size_t f = 0; f < fields; ++f) {
    if (!onsager_holds(curves, f)) continue;
    sonde::Series curve{.name = fmt::format("{} = {:.3g}", curves.field_name, curves.fields[f]), .x = drawn.at};
    curve.colour = colours[f];
    // Values below the last bits of a number are drawn at them: the axis is logarithmic.
    for (std::size_t n = 0; n < drawn.at.size(); ++n) {
      const double residual = curves.onsager_residual[n * fields + f];
      curve.y.push_back(std::isfinite(residual) ? std::max(residual, 1e-17) : nan);
    }
    facet.series.push_back(std::move(curve));
  }
  return facet;
}

}  // namespace

Chart coefficient_chart(const CoefficientCurves& curves, const CoefficientPanels& panels) {
  Chart chart{.title = curves.title, .one_legend = true};
  const Drawn made = drawn(curves);
  if (panels.D11) chart.facets.push_back(panel(curves, made, made.D11, {.title = "Radial transport", .y = made.y11}));
  if (panels.D31) chart.facets.push_back(panel(curves, made, made.D31, {.title = "Bootstrap current", .y = made.y31}));
  if (panels.D33)
    chart.facets.push_back(
        panel(curves, made, made.D33, {.title = "Parallel conductivity", .y = {.title = "D33* = (3/2) (ν/v) D33"}}));
  if (panels.onsager) chart.facets.push_back(onsager_panel(curves, made));
  if (chart.facets.size() == 4) chart.columns = 2;
  return chart;
}

}  // namespace sonde::neoclassical
