// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sonde/engine/io/contents.h"
#include "sonde/instruments/neoclassical/operators/drift_kinetic.h"
#include "sonde/instruments/neoclassical/solve/plan.h"

namespace sonde::neoclassical {

/// Where a result comes from.
struct Provenance {
  std::string input_toml;       ///< the resolved run file
  std::string geometry_source;  ///< file name, bytes and XXH3 of the surface's file; or the name of a built-in surface
  std::string timings_json;
  std::string warnings{};  ///< a line for each; empty: none
};

/// The radial label that coefficients are per, and the units that follow from it; those of D33 are m.
struct CoefficientUnits {
  std::string label, D11, D31;
};
[[nodiscard]] CoefficientUnits coefficient_units(const Surface& surface);
/// The same of a label that a result names: "s" or "r".
[[nodiscard]] CoefficientUnits coefficient_units(const std::string& label);

/// The texts that every result carries: input_toml software_version geometry_source discretisation path precision
/// run/timings_json, and warnings where there were any.
struct SolvedBy {
  std::string_view path, precision;
};
void add_provenance(Contents& contents, const Provenance& provenance, const GridSpec& grid, const SolvedBy& solved);

/// One solve: scalars D11 D31 D13 D33 D33_spitzer residual onsager_residual nu_hat epsi_hat er_hat n_theta n_zeta n_xi
/// iota nfp B0 b2_mean volume_prime psi_scale s, and iterations (of single precision; 0 in f64); the texts radial_label
/// and angles ("vmec" or "boozer");
/// arrays theta zeta and, on (theta, zeta), b db_dtheta db_dzeta jacobian b_sub_theta b_sub_zeta b_sup_theta b_sup_zeta
/// radial_drift; modes_m modes_n modes_b_cos (modes_b_sin); texts. With `modes` f1_modes and f3_modes (3, theta, zeta).
/// Coefficients carry `units` and `radial_label`.
[[nodiscard]] Contents run_contents(const Surface& surface, const Plan& plan, const Case& at,
                                    std::optional<double> er_hat, const Coefficients& made,
                                    const std::optional<Modes>& modes, const Provenance& provenance);

/// a_b and R0 of the equilibrium, m, which conversions to metres and to dimensionless coefficients need; 0: not known.
void add_lengths(Contents& contents, double a_b, double R0);

}  // namespace sonde::neoclassical
