// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/run/transport_settings.h"

#include <filesystem>
#include <utility>

#include "sonde/engine/options/toml.h"

namespace sonde::neoclassical {

TransportOptions TransportSettings::transport() const {
  TransportOptions options;
  options.energies = energies;
  options.quadrature = quadrature;
  options.coulomb_logarithm = coulomb_logarithm;
  if (momentum_correction == Correction::sonine) options.sonine_order = static_cast<int>(sonine_order);
  options.ambipolar.choice = root;
  options.ambipolar.lowest = E_r_lowest;
  options.ambipolar.highest = E_r_highest;
  options.ambipolar.points = E_r_points;
  return options;
}

void TransportSettings::describe(Fields& fields) {
  fields.choice(
      "root", root,
      {{"entropy", RootChoice::least_entropy_production}, {"ion", RootChoice::ion}, {"electron", RootChoice::electron}},
      {.help = "which stable root of the ambipolar field: of least entropy production, the lowest, the highest"});
  fields.add("E_r_lowest", E_r_lowest, {.help = "where the search for it begins", .unit = "V/m"});
  fields.add("E_r_highest", E_r_highest, {.help = "where the search for it ends", .unit = "V/m"});
  fields.add("E_r_points", E_r_points,
             {.help = "fields of the search: two roots closer than its step may be missed", .min = 2, .max = 1e5});
  fields.add("E_par", E_par,
             {.help = "electric field along B that a transformer drives, B0 <E_par B>/<B^2>", .unit = "V/m"});
  fields.choice("momentum_correction", momentum_correction,
                {{"none", Correction::none}, {"sonine", Correction::sonine}},
                {.help = "whether collisions between species conserve momentum"});
  fields.add("sonine_order", sonine_order, {.help = "of its polynomials", .min = 0, .max = highest_sonine_order});
  fields.add("energies", energies, {.help = "nodes of the energy integrals", .min = 2, .max = 512});
  fields.choice("quadrature", quadrature,
                {{"laguerre", EnergyQuadrature::gauss_laguerre}, {"maxwell", EnergyQuadrature::maxwell_polynomials}},
                {.help = "rule of the energy integrals"});
  fields.choice("coulomb_logarithm", coulomb_logarithm,
                {{"electrons", CoulombLogarithm::electrons},
                 {"nrl", CoulombLogarithm::nrl},
                 {"impact", CoulombLogarithm::impact_parameter}},
                {.help = "32.2 + 1.15 log10(Te^2/ne), the NRL formulary's, or from impact parameters"});
}

std::string profile_settings_text(TransportSettings transport, const std::string& plasma,
                                  const std::optional<DirectSettings>& direct) {
  const auto echo_of = [](auto settings) {
    Fields fields;
    settings.describe(fields);
    return fields.echo();
  };
  Value tables;
  tables["transport"] = echo_of(std::move(transport));
  tables["plasma"]["profiles"] = std::filesystem::path(plasma).filename().string();
  if (!direct) return to_toml(tables);
  tables["grid"] = echo_of(direct->grid);
  Value& solver = tables["solver"];
  solver["tol"] = direct->solver.tol;
  solver["precision"] = direct->solver.precision == Precision::f32_refine ? "f32-refine" : "f64";
  if (direct->solver.adapt_n_xi) solver["adapt_n_xi"] = *direct->solver.adapt_n_xi;
  solver["E_r_search"] = direct->search == FieldSearch::guided ? "guided" : "exhaustive";
  return to_toml(tables);
}

}  // namespace sonde::neoclassical
