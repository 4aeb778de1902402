// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sonde/engine/options/fields.h"
#include "sonde/instruments/neoclassical/run/settings.h"
#include "sonde/instruments/neoclassical/transport/radial_transport.h"

namespace sonde::neoclassical {

/// How fluxes and currents follow from monoenergetic coefficients.
struct TransportSettings {
  enum class Correction { none, sonine };

  RootChoice root = RootChoice::least_entropy_production;
  Correction momentum_correction = Correction::sonine;
  Index sonine_order = 2, energies = 64;
  double E_r_lowest = -50e3, E_r_highest = 50e3;
  Index E_r_points = 300;
  double E_par = 0;  ///< B0 <E_par B>/<B^2>, V/m, at every radius
  EnergyQuadrature quadrature = EnergyQuadrature::gauss_laguerre;
  CoulombLogarithm coulomb_logarithm = CoulombLogarithm::electrons;

  [[nodiscard]] TransportOptions transport() const;

  void describe(Fields& fields);
};

/// What else decides profiles that are solved, beside the transport: on which grid, how well, how fields are found.
struct DirectSettings {
  GridSettings grid;
  SolverSettings solver;
  FieldSearch search = FieldSearch::guided;
};

/// As TOML all that decides the numbers of profiles and that does not stand in their file by itself: [transport],
/// [plasma] with the name of the file of profiles ("" for the standard ones), and [grid] and [solver] of what was
/// solved. No threads, processes or folders, which decide nothing.
[[nodiscard]] std::string profile_settings_text(TransportSettings transport, const std::string& plasma,
                                                const std::optional<DirectSettings>& direct);

}  // namespace sonde::neoclassical
