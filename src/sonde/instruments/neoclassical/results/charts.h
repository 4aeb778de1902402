// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/figure/chart.h"
#include "sonde/instruments/neoclassical/geometry/series.h"
#include "sonde/instruments/neoclassical/scan/convergence.h"

namespace sonde::neoclassical {

/// Coefficients of one surface over collisionality, a curve per field: what charts are drawn from.
struct CoefficientCurves {
  std::string title, field_name;
  std::vector<double> nu_v, fields;
  std::vector<double> D11, D31, D13, D33;  ///< [nu][field]
  std::vector<double> onsager_residual;    ///< the same
};

/// Coefficients of a scan or a database: tables [rho][nu][field].
struct CoefficientTables {
  std::string field_name{};
  std::vector<double> rho{}, nu_v{}, fields{};  ///< rho is NaN for a surface that is no part of an equilibrium
  std::vector<double> D11{}, D31{}, D13{}, D33{}, onsager_residual{};
};
/// One of its radii. Throws Error(bad_input) when there is none of that number or a table is not of the axes' size.
[[nodiscard]] CoefficientCurves curves_at(const CoefficientTables& tables, Index radius);

/// D11, |D31| and nu D33 over nu, log axes, one curve per field; below them how well Onsager symmetry and positivity
/// hold.
[[nodiscard]] Chart coefficient_chart(const CoefficientCurves& curves);

/// How the coefficients move as the grid is refined, one panel per direction: change from step to step over its size.
[[nodiscard]] Chart convergence_chart(const Study& study, const std::string& title, double tolerance);

/// |B| of one field period as a PNG with its scale beside it: theta upwards, zeta to the right. Written like every
/// output; Error(io).
void write_field_map(const std::string& path, const Series& b, int periods);

}  // namespace sonde::neoclassical
