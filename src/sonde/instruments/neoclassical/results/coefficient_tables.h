// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonde/instruments/neoclassical/convert/conversions.h"
#include "sonde/instruments/neoclassical/database/database.h"
#include "sonde/instruments/neoclassical/results/result_file.h"
#include "sonde/instruments/neoclassical/results/scan_result.h"

namespace sonde::neoclassical {

/// Coefficients of a scan or a database, as charts take them: tables [rho][nu][field], NaN for points without an
/// answer.
struct CoefficientTables {
  std::string field_name{};
  std::vector<double> rho{}, nu_v{}, fields{};  ///< rho is NaN for a surface that is no part of an equilibrium
  std::vector<double> D11{}, D31{}, D13{}, D33{}, onsager_residual{};
  std::string D11_unit{}, D31_unit{};
  std::vector<double> iota{}, B0{}, R0{};  ///< of each radius; empty when not known
  double a_b = 0;                          ///< m; 0: not known
  bool symmetric = true;                   ///< stellarator symmetric
};
[[nodiscard]] CoefficientTables tables_of(const ScanResult& scan);
[[nodiscard]] CoefficientTables tables_of(const Database& database);
/// Of a scan that was stored. Throws Error(bad_file) naming what is missing.
[[nodiscard]] CoefficientTables tables_of(const ResultFile& file);

/// Coefficients of one surface over collisionality, a curve per field: what charts are drawn from.
struct CoefficientCurves {
  std::string title{}, field_name{};
  std::vector<double> nu_v{}, fields{};
  std::vector<double> D11{}, D31{}, D13{}, D33{};  ///< [nu][field]; NaN for points without an answer
  std::vector<double> onsager_residual{};          ///< the same
  std::string D11_unit{}, D31_unit{};
  /// What makes the dimensionless coefficients of the benchmark, psi being the label of these; unset: not known.
  std::optional<ConversionGeometry> geometry{};
  bool symmetric = true;  ///< stellarator symmetric; without it D13 = -D31 holds only at E = 0
};

/// One of the radii. Throws Error(bad_input) when there is none of that number or a table is not of the axes' size.
[[nodiscard]] CoefficientCurves curves_at(const CoefficientTables& tables, Index radius);

}  // namespace sonde::neoclassical
