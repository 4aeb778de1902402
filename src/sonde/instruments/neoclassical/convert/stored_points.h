// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sonde {
class Fields;
}

namespace sonde::neoclassical {

/// In whose units a point is stored. NTX and MONKES have the same.
enum class Normalisation { ntx, dkes, sfincs, stars };

/// Under which names a point is stored: its coefficients, its collisionality, its electric field.
[[nodiscard]] std::array<std::string, 6> stored_names(Normalisation normalisation);

/// Their units, in the same order; "1" for what has none.
[[nodiscard]] std::array<std::string, 6> stored_units(Normalisation normalisation);

/// "ntx", "dkes", "sfincs", "stars".
[[nodiscard]] const char* name(Normalisation normalisation);

/// Numbers by name, as files of results hold them.
using StoredNumbers = std::map<std::string, std::vector<double>>;

/// From which program's normalisation to which, with lengths that take the place of those of a result, or
/// that it does not hold.
struct ConversionSettings {
  Normalisation from = Normalisation::ntx, to = Normalisation::sfincs;
  std::optional<double> radius{};        ///< m, of the one surface: for stars, and for DKES from what is per s
  std::optional<double> minor_radius{};  ///< m, of the plasma, which radius = minor_radius sqrt(s) follows from
  std::optional<double> major_radius{};  ///< m: for stars
  std::optional<double> psi_a{};         ///< T m^2, edge flux / 2 pi with its sign: for tables per s that lack it

  void describe(Fields& fields);
};

/// Throws Error(bad_input) unless both values of psi_a agree within 1 %: a wrong flux shows in no residual.
void require_same_flux(double given, double own);

/// The points of one surface, stored as `settings.from`, under the names of `settings.to`. Each of the six quantities
/// holds as many numbers as there are points. The surface is described by what a run stores (B0, iota, s, psi_scale
/// and, on its grid, b_sub_theta, b_sub_zeta, b_sup_zeta and jacobian; a_b and R0 where it has them) or by what this
/// function adds: B0, iota, G, I, psi_p, r, R0 and signgs, so that what was converted can be converted back. As `ntx` a
/// run's own coefficients are understood as well, which are per s or per r. Throws Error(bad_input) naming the quantity
/// that is not there, has another length, or would be divided by and is 0.
[[nodiscard]] StoredNumbers converted(const StoredNumbers& stored, const ConversionSettings& settings);

}  // namespace sonde::neoclassical
