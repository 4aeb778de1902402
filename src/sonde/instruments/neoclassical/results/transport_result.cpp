// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/results/transport_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/report/provenance.h"
#include "sonde/instruments/neoclassical/convert/result_contents.h"

namespace sonde::neoclassical {
namespace {

std::vector<double> radii_of(std::span<const RadialResult> results) {
  std::vector<double> rho;
  for (const RadialResult& result : results) rho.push_back(result.rho);
  return rho;
}

std::vector<double> over_radii(std::span<const RadialResult> results, auto&& value) {
  std::vector<double> values;
  for (const RadialResult& result : results) values.push_back(value(result));
  return values;
}

/// Roots over rho that something is true of, for points on the chart.
sonde::Series roots_where(std::span<const RadialResult> results, std::string name, auto&& holds) {
  sonde::Series series{.name = std::move(name), .mark = Mark::points};
  for (const RadialResult& result : results)
    for (const AmbipolarRoot& root : result.roots.roots)
      if (holds(root)) {
        series.x.push_back(result.rho);
        series.y.push_back(root.E_r / 1e3);
      }
  return series;
}

bool is_corrected(std::span<const RadialResult> results) {
  return !results.empty() && !results.front().corrected.empty();
}

/// Relative differences of the independent L_ij as NAME_L11, ... on (rho, species); `made` gives the matrices of a
/// radius to compare with, or none. Returns the largest; a NaN, of a radius without a field, does not count.
LargestError add_matrix_errors(Contents& contents, const std::string& name, std::span<const RadialResult> solved,
                               auto&& made) {
  LargestError largest;
  const auto radii = static_cast<Index>(solved.size());
  const Index species = radii == 0 ? 0 : static_cast<Index>(solved.front().L.size());
  for (const auto& [which, member] : {std::pair{"L11", &ThermalMatrix::L11}, std::pair{"L12", &ThermalMatrix::L12},
                                      std::pair{"L22", &ThermalMatrix::L22}, std::pair{"L31", &ThermalMatrix::L31},
                                      std::pair{"L32", &ThermalMatrix::L32}, std::pair{"L33", &ThermalMatrix::L33}}) {
    std::vector<double> errors;
    for (std::size_t r = 0; r < solved.size(); ++r) {
      const std::vector<ThermalMatrix>& other = made(r);
      for (std::size_t a = 0; a < solved[r].L.size(); ++a) {
        const double truth = solved[r].L[a].*member,
                     found = other.empty() ? std::numeric_limits<double>::quiet_NaN() : other[a].*member;
        errors.push_back(truth == found ? 0 : std::abs(found / truth - 1));
        if (errors.back() > largest.value) largest = {which, errors.back()};
      }
    }
    contents.add(fmt::format("{}_{}", name, which), {"rho", "species"}, Array::from(errors, Shape{radii, species}))
        .unit("1");
  }
  return largest;
}

Facet flux_facet(std::span<const RadialResult> results, std::span<const Species> species, std::string title, Axis y,
                 auto&& value) {
  Facet facet{.title = std::move(title), .x = {.title = "rho"}, .y = std::move(y)};
  for (std::size_t a = 0; a < species.size(); ++a)
    facet.series.push_back(
        {.name = species[a].name, .x = radii_of(results), .y = over_radii(results, [&](const RadialResult& r) {
                                                            return value(r.corrected.empty() ? r.fluxes[a]
                                                                                             : r.corrected[a]);
                                                          })});
  return facet;
}

}  // namespace

std::string roots_of(std::span<const RadialResult> results) {
  return is_corrected(results) ? "corrected" : "without correction";
}

Contents transport_contents(std::span<const RadialResult> results, std::span<const Species> species,
                            const std::string& source, const std::string& settings) {
  Contents contents = result_contents();
  const auto radii = static_cast<Index>(results.size()), kinds = static_cast<Index>(species.size());
  const auto profile = [&](const char* name, const char* unit, auto&& value) {
    contents.add(name, {"rho"}, Array::from(over_radii(results, value), Shape{radii})).unit(unit);
  };
  const auto table = [&](const char* name, const char* unit, auto&& value) {
    std::vector<double> values;
    for (const RadialResult& result : results)
      for (std::size_t a = 0; a < species.size(); ++a) values.push_back(value(result, a));
    contents.add(name, {"rho", "species"}, Array::from(values, Shape{radii, kinds})).unit(unit);
  };
  using R = const RadialResult&;
  using S = std::size_t;
  profile("rho", "1", [](R r) { return r.rho; });
  profile("E_r", "V/m", [](R r) { return r.E_r; });
  profile("without_root", "1", [](R r) { return r.without_root ? 1.0 : 0.0; });
  profile("without_u2", "1", [](R r) { return r.without_u2 ? 1.0 : 0.0; });
  std::string names;
  for (const Species& each : species) names += (names.empty() ? "" : ",") + each.name;
  contents.add_text("species_names", names);
  contents.add_text("coefficients", source);
  contents.add_text("settings", settings);
  contents.add_text("software_version", made_by_text());
  contents.add_text("roots_of", roots_of(results));
  table("gamma", "m^-2 s^-1", [](R r, S a) { return r.fluxes[a].gamma; });
  table("q", "W m^-2", [](R r, S a) { return r.fluxes[a].q; });
  table("u_par", "m^-2 s^-1", [](R r, S a) { return r.fluxes[a].u_par; });
  table("current", "A m^-2", [](R r, S a) { return r.current[a]; });
  profile("total_current", "A m^-2", [](R r) { return r.total_current; });
  if (is_corrected(results)) {
    table("corrected_gamma", "m^-2 s^-1", [](R r, S a) { return r.corrected[a].gamma; });
    table("corrected_q", "W m^-2", [](R r, S a) { return r.corrected[a].q; });
    table("corrected_u_par", "m^-2 s^-1", [](R r, S a) { return r.corrected[a].u_par; });
    table("corrected_current", "A m^-2", [](R r, S a) { return r.corrected_current[a]; });
    profile("corrected_total_current", "A m^-2", [](R r) { return r.corrected_total_current; });
    profile("sonine_change", "A m^-2", [](R r) { return r.sonine_change; });
  }
  table("A1", "m^-1", [](R r, S a) { return r.forces[a].A1; });
  table("A2", "m^-1", [](R r, S a) { return r.forces[a].A2; });
  table("A3", "m^-1", [](R r, S a) { return r.forces[a].A3; });
  for (const auto& [name, member] : {std::pair{"L11", &ThermalMatrix::L11}, std::pair{"L12", &ThermalMatrix::L12},
                                     std::pair{"L13", &ThermalMatrix::L13}, std::pair{"L21", &ThermalMatrix::L21},
                                     std::pair{"L22", &ThermalMatrix::L22}, std::pair{"L23", &ThermalMatrix::L23},
                                     std::pair{"L31", &ThermalMatrix::L31}, std::pair{"L32", &ThermalMatrix::L32},
                                     std::pair{"L33", &ThermalMatrix::L33}})
    table(name, "m^2 s^-1", [member = member](R r, S a) { return r.L[a].*member; });
  table("beyond", "1", [](R r, S a) { return r.beyond[a]; });
  table("left_out", "1", [](R r, S a) { return r.left_out[a]; });

  std::size_t most = 1;
  for (const RadialResult& result : results) most = std::max(most, result.roots.roots.size());
  const auto of_roots = [&](const char* name, const char* unit, auto&& value) {
    std::vector<double> values;
    for (const RadialResult& result : results)
      for (std::size_t i = 0; i < most; ++i)
        values.push_back(i < result.roots.roots.size() ? value(result.roots.roots[i])
                                                       : std::numeric_limits<double>::quiet_NaN());
    contents.add(name, {"rho", "root"}, Array::from(values, Shape{radii, static_cast<Index>(most)})).unit(unit);
  };
  of_roots("roots", "V/m", [](const AmbipolarRoot& root) { return root.E_r; });
  of_roots("root_is_stable", "1",
           [](const AmbipolarRoot& root) { return root.kind == AmbipolarRoot::Class::unstable ? 0.0 : 1.0; });
  of_roots("root_uncertainty", "V/m", [](const AmbipolarRoot& root) { return root.uncertainty; });
  if (std::any_of(results.begin(), results.end(), [](R r) { return r.search.fields > 0; })) {
    profile("search_table_points", "1", [](R r) { return static_cast<double>(r.search.table_points); });
    profile("search_fields_solved", "1", [](R r) { return static_cast<double>(r.search.fields); });
    add_matrix_errors(contents, "search_table_error", results,
                      [&](std::size_t r) -> const std::vector<ThermalMatrix>& { return results[r].search.by_table; });
  }
  return contents;
}

LargestError add_interpolation_errors(Contents& contents, std::span<const RadialResult> solved,
                                      std::span<const RadialResult> interpolated) {
  return add_matrix_errors(contents, "interpolation_error", solved,
                           [&](std::size_t r) -> const std::vector<ThermalMatrix>& { return interpolated[r].L; });
}

StoredTransport read_transport(const ResultFile& file) {
  StoredTransport stored;
  for (const std::string& name : split(file.text("species_names"), ',')) stored.species.push_back({.name = name});
  const std::vector<double>& rho = file.numbers("rho");
  const std::size_t radii = rho.size(), kinds = stored.species.size();
  const auto sized = [&](const char* name, std::size_t each) -> const std::vector<double>& {
    const std::vector<double>& values = file.numbers(name);
    if (values.size() != radii * each)
      throw Error(ErrorKind::bad_file, fmt::format("{}: {} holds {} numbers, expected {} by its axes", file.path(),
                                                   name, values.size(), radii * each));
    return values;
  };
  for (const double radius : rho) stored.results.emplace_back().rho = radius;
  const auto profile = [&](const char* name, auto&& put) {
    const std::vector<double>& values = sized(name, 1);
    for (std::size_t r = 0; r < radii; ++r) put(stored.results[r], values[r]);
  };
  using R = RadialResult&;
  profile("E_r", [](R r, double value) { r.E_r = value; });
  profile("without_root", [](R r, double value) { r.without_root = value != 0; });
  profile("total_current", [](R r, double value) { r.total_current = value; });
  const auto fluxes = [&](const std::string& prefix, std::vector<Fluxes> RadialResult::*member) {
    const std::vector<double>&gamma = sized((prefix + "gamma").c_str(), kinds),
          &q = sized((prefix + "q").c_str(), kinds);
    for (std::size_t i = 0; i < radii * kinds; ++i)
      (stored.results[i / kinds].*member).push_back({.gamma = gamma[i], .q = q[i]});
  };
  fluxes("", &RadialResult::fluxes);
  if (file.has("corrected_gamma")) {
    fluxes("corrected_", &RadialResult::corrected);
    profile("corrected_total_current", [](R r, double value) { r.corrected_total_current = value; });
  }
  const std::size_t most = radii == 0 ? 0 : file.numbers("roots").size() / radii;
  const std::vector<double>&roots = sized("roots", most), &stable = sized("root_is_stable", most),
        &uncertainty = sized("root_uncertainty", most);
  for (std::size_t i = 0; i < roots.size(); ++i)
    if (!std::isnan(roots[i]))
      stored.results[i / most].roots.roots.push_back(
          {.E_r = roots[i], .slope = stable[i] != 0 ? 1.0 : -1.0, .uncertainty = uncertainty[i]});
  // The classes follow from what is stored; which root was taken stands in E_r.
  for (RadialResult& result : stored.results) settle(result.roots, RootChoice::ion);
  return stored;
}

Chart transport_chart(std::span<const RadialResult> results, std::span<const Species> species,
                      const TransportPanels& panels) {
  Chart chart;
  chart.title = "Neoclassical transport";
  chart.columns = 2;
  // Where no radius has a field there are roots at best, unstable or doubtful.
  const bool fields = std::any_of(results.begin(), results.end(), [](const auto&r) { return !r.without_root; }),
             roots = std::any_of(results.begin(), results.end(), [](const auto&r) { return !r.roots.roots.empty(); });
  if (panels.ambipolar && (fields || roots)) {
    Facet facet{.title = fmt::format("Field where {} fluxes carry no current",
                                     is_corrected(results) ? "corrected" : "uncorrected"),
                .x = {.title = "rho"},
                .y = {.title = "E_r", .unit = "kV/m"}};
    if (fields)
      facet.series.push_back({.name = "taken",
                              .x = radii_of(results),
                              .y = over_radii(results, [](const RadialResult& r) { return r.E_r / 1e3; }),
                              .mark = Mark::lines});
    const auto add = [&](const char* name, auto&& holds) {
      if (sonde::Series series = roots_where(results, name, holds); !series.x.empty())
        facet.series.push_back(std::move(series));
    };
    for (const auto& [kind, name] : {std::pair{AmbipolarRoot::Class::ion, "ion roots"},
                                     std::pair{AmbipolarRoot::Class::electron, "electron roots"},
                                     std::pair{AmbipolarRoot::Class::unstable, "unstable roots"}})
      add(name, [kind = kind](const AmbipolarRoot& root) { return root.kind == kind && !root.doubtful(); });
    add("doubtful roots", [](const AmbipolarRoot& root) { return root.doubtful(); });
    chart.facets.push_back(std::move(facet));
  }
  if (panels.bootstrap && fields) {
    Facet facet{.title = "Bootstrap current", .x = {.title = "rho"}, .y = {.title = "<J B>/B0", .unit = "kA/m^2"}};
    facet.series.push_back({.name = "without momentum correction",
                            .x = radii_of(results),
                            .y = over_radii(results, [](const RadialResult& r) { return r.total_current / 1e3; })});
    if (is_corrected(results))
      facet.series.push_back(
          {.name = "with it", .x = radii_of(results), .y = over_radii(results, [](const RadialResult& r) {
                                                        return r.corrected_total_current / 1e3;
                                                      })});
    chart.facets.push_back(std::move(facet));
  }
  if (panels.fluxes && fields) {
    // The ones to take where there are both: without the correction collisions destroy momentum.
    const char* with = is_corrected(results) ? "with momentum correction" : "without momentum correction";
    const std::string particles = fmt::format("Particles, {}", with), energy = fmt::format("Energy, {}", with);
    chart.facets.push_back(flux_facet(results, species, particles, {.title = "Gamma", .unit = "1e20 / (m^2 s)"},
                                      [](const Fluxes& f) { return f.gamma / 1e20; }));
    chart.facets.push_back(flux_facet(results, species, energy, {.title = "Q", .unit = "kW/m^2"},
                                      [](const Fluxes& f) { return f.q / 1e3; }));
  }
  return chart;
}

}  // namespace sonde::neoclassical
