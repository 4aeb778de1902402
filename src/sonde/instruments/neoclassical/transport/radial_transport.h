// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sonde/instruments/neoclassical/transport/ambipolar.h"
#include "sonde/instruments/neoclassical/transport/momentum.h"

namespace sonde::neoclassical {

enum class EnergyQuadrature { gauss_laguerre, maxwell_polynomials };

struct TransportOptions {
  Index energies = 64;
  EnergyQuadrature quadrature = EnergyQuadrature::gauss_laguerre;
  CoulombLogarithm coulomb_logarithm = CoulombLogarithm::electrons;
  std::optional<int> sonine_order;  ///< of the momentum correction; nothing: none
  AmbipolarOptions ambipolar;       ///< where a radius has no field of its own
};

/// One radius of a plasma.
struct RadialInput {
  double rho = 0;
  std::vector<Population> plasma;
  std::optional<double> E_r;  ///< V/m; nothing: the ambipolar one
  double electric_drive = 0;  ///< B0 <E_par B>/<B^2>, V/m
};

/// What the plasma does there. Vectors have one entry per species.
struct RadialResult {
  double rho = 0;
  double E_r = 0;  ///< V/m
  /// Of the search, which takes the fluxes without momentum correction. Where it has no stable root, E_r is 0 and
  /// `without_root` is set.
  AmbipolarRoots roots;
  bool without_root = false;
  std::vector<Forces> forces;
  std::vector<ThermalMatrix> L;
  std::vector<Fluxes> fluxes;     ///< without momentum correction
  std::vector<Fluxes> corrected;  ///< with it; empty when none was asked for
  std::vector<double> beyond;     ///< shares of the integrals that stand on coefficients beyond what is known

  /// <J_par B>/B0 of each species and of all: sum_a q_a U_par,a, A/m^2.
  std::vector<double> current, corrected_current;
  double total_current = 0, corrected_total_current = 0;
};

/// Every radius on its own, several at a time. Throws what the parts throw, with "while: at rho = ...".
[[nodiscard]] std::vector<RadialResult> radial_transport(const RadialSource& source, std::span<const RadialInput> radii,
                                                         const TransportOptions& options);

}  // namespace sonde::neoclassical
