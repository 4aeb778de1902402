// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/results/run_result.h"

#include <limits>
#include <utility>

#include "sonde/engine/report/provenance.h"
#include "sonde/instruments/neoclassical/convert/result_contents.h"

namespace sonde::neoclassical {
namespace {

Array line(const std::vector<double>& values) { return Array::from(values, Shape{static_cast<Index>(values.size())}); }

}  // namespace

CoefficientUnits coefficient_units(const Surface& surface) { return coefficient_units(surface.s > 0 ? "s" : "r"); }

CoefficientUnits coefficient_units(const std::string& label) {
  if (label == "s") return {"s", "m^-3 T^-2", "m^-1 T^-1"};
  return {"r", "m^-1 T^-2", "T^-1"};
}

Contents run_contents(const Surface& surface, const Plan& plan, const Case& at, std::optional<double> er_hat,
                      const Coefficients& made, const std::optional<Modes>& modes, const Provenance& provenance) {
  Contents contents = result_contents();
  const SampledSurface& sampled = plan.surface();
  const GridSpec& grid = plan.grid();
  const CoefficientUnits units = coefficient_units(surface);
  const auto scalar = [&](const char* name, double value, const std::string& unit) {
    Contents::Variable& variable = contents.add(name, value);
    variable.unit(unit);
  };
  const auto coefficient = [&](const char* name, double value, const std::string& unit) {
    Contents::Variable& variable = contents.add(name, value);
    variable.unit(unit);
    variable.attributes.emplace_back("radial_label", units.label);
  };
  coefficient("D11", made.D11, units.D11);
  coefficient("D31", made.D31, units.D31);
  coefficient("D13", made.D13, units.D31);
  coefficient("D33", made.D33, "m");
  coefficient("D33_spitzer", made.D33_spitzer, "m");
  scalar("residual", made.residual, "");
  scalar("onsager_residual", made.onsager_residual, "");
  scalar("nu_hat", at.nu_hat, "m^-1");
  scalar("epsi_hat", at.epsi_hat, "");
  scalar("er_hat", er_hat.value_or(std::numeric_limits<double>::quiet_NaN()), "T");
  for (const auto& [name, value] : {std::pair{"n_theta", grid.n_theta}, std::pair{"n_zeta", grid.n_zeta},
                                    std::pair{"n_xi", made.n_xi}, std::pair{"nfp", Index{surface.periods}}})
    contents.add(name, static_cast<std::int32_t>(value));
  scalar("iota", surface.iota, "");
  scalar("B0", surface.reference_field(), "T");
  scalar("b2_mean", sampled.b2_mean, "T^2");
  scalar("volume_prime", sampled.volume_prime, "");
  scalar("psi_scale", surface.psi_scale, "");
  scalar("s", surface.s, "");
  contents.add_text("radial_label", units.label);
  contents.add_text("angles", surface.angles);

  std::vector<double> theta, zeta;
  for (Index i = 0; i < grid.n_theta; ++i) theta.push_back(sampled.grid.theta(i));
  for (Index j = 0; j < grid.n_zeta; ++j) zeta.push_back(sampled.grid.zeta(j));
  contents.add("theta", {"theta"}, line(theta)).unit("rad");
  contents.add("zeta", {"zeta"}, line(zeta)).unit("rad");
  const auto field = [&](const char* name, const std::vector<double>& values, const std::string& unit = "") {
    Contents::Variable& variable =
        contents.add(name, {"theta", "zeta"}, Array::from(values, Shape{grid.n_theta, grid.n_zeta}));
    variable.unit(unit);
  };
  field("b", sampled.b, "T");
  field("db_dtheta", sampled.db_dtheta, "T");
  field("db_dzeta", sampled.db_dzeta, "T");
  field("jacobian", sampled.jacobian);  // of (label, theta, zeta): its unit is that of the label
  field("b_sub_theta", sampled.b_sub_theta, "T m");
  field("b_sub_zeta", sampled.b_sub_zeta, "T m");
  field("b_sup_theta", sampled.b_sup_theta, "T m^-1");
  field("b_sup_zeta", sampled.b_sup_zeta, "T m^-1");
  field("radial_drift", sampled.radial_drift());

  std::vector<double> m, n;
  for (const Mode& mode : surface.b.modes) {
    m.push_back(mode.m);
    n.push_back(mode.n);
  }
  contents.add("modes_m", {"mode"}, line(m));
  contents.add("modes_n", {"mode"}, line(n));
  contents.add("modes_b_cos", {"mode"}, line(surface.b.cosine));
  if (!surface.b.sine.empty()) contents.add("modes_b_sin", {"mode"}, line(surface.b.sine));
  if (modes)
    for (const auto& [name, coefficients] : {std::pair{"f1_modes", &modes->f1}, std::pair{"f3_modes", &modes->f3}}) {
      std::vector<double> all;
      for (const std::vector<double>& k : *coefficients) all.insert(all.end(), k.begin(), k.end());
      contents.add(name, {"legendre", "theta", "zeta"}, Array::from(all, Shape{3, grid.n_theta, grid.n_zeta}));
    }
  contents.add("iterations", static_cast<std::int32_t>(made.iterations));
  add_provenance(contents, provenance, grid, {name(made.path), name(made.precision)});
  return contents;
}

void add_lengths(Contents& contents, double a_b, double R0) {
  for (const auto& [name, value] : {std::pair{"a_b", a_b}, std::pair{"R0", R0}})
    if (value > 0) contents.add(name, value).unit("m");
}

void add_provenance(Contents& contents, const Provenance& provenance, const GridSpec& grid, const SolvedBy& solved) {
  contents.add_text("input_toml", provenance.input_toml);
  contents.add_text("software_version", made_by_text());
  contents.add_text("geometry_source", provenance.geometry_source);
  contents.add_text("discretisation", name(grid.discretisation));
  contents.add_text("path", std::string(solved.path));
  contents.add_text("precision", std::string(solved.precision));
  contents.add_text("run/timings_json", provenance.timings_json);
  if (!provenance.warnings.empty()) contents.add_text("warnings", provenance.warnings);
}

}  // namespace sonde::neoclassical
