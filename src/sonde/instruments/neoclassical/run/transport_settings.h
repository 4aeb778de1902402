// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/options/fields.h"
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

}  // namespace sonde::neoclassical
