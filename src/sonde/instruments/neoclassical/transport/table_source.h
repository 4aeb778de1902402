// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "sonde/instruments/neoclassical/database/database.h"
#include "sonde/instruments/neoclassical/transport/surface_table.h"

namespace sonde::neoclassical {

/// A database between its points. Along log nu_hat and log(E_hat/r) the interpolants are monotone cubics of log D11,
/// D31, D13 and nu_hat D33, all per metre of r; E_hat/r below 1e-8 T/m (so also 0) counts as 1e-8, as other readers of
/// these files have it. In rho they are monotone cubics at equal nu_hat and E_hat/r through the four nearest radii.
///
/// Beyond the table, always flagged: below the lowest nu_hat D11 continues with the power law of the last interval,
/// limited to exponents from -1 to 1, and D31, D13 and nu_hat D33 keep their values; above the highest nu_hat the
/// asymptotes of frequent collisions hold, D11 as nu_hat, D31 and D13 as nu_hat^-2, D33 as 1/nu_hat; above the largest
/// E_hat/r and beyond the first and last radius the nearest values hold.
class TableSource : public RadialSource {
 public:
  /// Throws like require_valid(), and Error(bad_input) when a D11 is not above zero, there are fewer than two nu_v, or
  /// two fields fall together after the rule above.
  explicit TableSource(const Database& database);

  [[nodiscard]] double minor_radius() const override { return a_b_; }
  [[nodiscard]] std::unique_ptr<SurfaceSource> at(double rho) const override;

 private:
  [[nodiscard]] TableSlice resampled(double rho, const std::vector<double>& log_field) const;

  double a_b_ = 0;
  bool symmetric_ = true;
  std::vector<double> rho_, log_nu_;
  std::vector<double> er_hat_;  ///< of each field, the same at all radii
  std::vector<double> reference_field_, b2_ratio_;
  std::vector<double> u2_;          ///< of each radius, where the table reaches frequent collisions at all of them
  std::vector<TableSlice> slices_;  ///< one per radius of the table
};

}  // namespace sonde::neoclassical
