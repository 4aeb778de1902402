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
  /// Of the search, which takes the fluxes without momentum correction. Where it has no stable root, `without_root` is
  /// set, and E_r and all that would follow from it are NaN.
  AmbipolarRoots roots;
  bool without_root = false;
  std::vector<Forces> forces;
  std::vector<ThermalMatrix> L;
  std::vector<Fluxes> fluxes;     ///< without momentum correction
  std::vector<Fluxes> corrected;  ///< with it; empty when none was asked for
  std::vector<double> beyond;     ///< shares of the integrals that stand on coefficients beyond what is known
  std::vector<double> left_out;   ///< shares of energies without an answer, see SpeciesMoments

  /// <J_par B>/B0 of each species and of all: sum_a q_a U_par,a, A/m^2.
  std::vector<double> current, corrected_current;
  double total_current = 0, corrected_total_current = 0;
};

/// For how many pairs of collisionality and field the source will be asked at the least: the search for a root asks for
/// some more. What a direct lane costs.
[[nodiscard]] Index least_solves(std::span<const RadialInput> radii, const TransportOptions& options);

/// Every radius on its own, several at a time; ends between fields of the search when asked to stop. Throws
/// Error(bad_input) for a plasma that is not neutral, and what the parts throw, with "while: at rho = ...".
[[nodiscard]] std::vector<RadialResult> radial_transport(const RadialSource& source, std::span<const RadialInput> radii,
                                                         const TransportOptions& options);

}  // namespace sonde::neoclassical
