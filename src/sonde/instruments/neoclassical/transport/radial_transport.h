// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sonde/instruments/neoclassical/transport/ambipolar.h"
#include "sonde/instruments/neoclassical/transport/momentum.h"

namespace sonde::neoclassical {

enum class EnergyQuadrature { gauss_laguerre, maxwell_polynomials };

/// How the ambipolar field is searched for: by the coefficients themselves at every field, or by a table of the surface
/// that is made for it where that costs less (SearchTables, guided_roots()). Roots are those of the coefficients either
/// way.
enum class FieldSearch { exhaustive, guided };

struct TransportOptions {
  Index energies = 64;
  EnergyQuadrature quadrature = EnergyQuadrature::gauss_laguerre;
  CoulombLogarithm coulomb_logarithm = CoulombLogarithm::electrons;
  std::optional<int> sonine_order;               ///< of the momentum correction; nothing: none
  AmbipolarOptions ambipolar;                    ///< where a radius has no field of its own
  FieldSearch search = FieldSearch::exhaustive;  ///< guided: for sources that solve. Not where D31 has no parity in E_r
};

/// One radius of a plasma.
struct RadialInput {
  double rho = 0;
  std::vector<Population> plasma;
  std::optional<double> E_r;  ///< V/m; nothing: the ambipolar one
  double electric_drive = 0;  ///< B0 <E_par B>/<B^2>, V/m
};

/// What a guided search did.
struct SearchRecord {
  Index table_points = 0;    ///< pairs of nu_hat and field that were asked for to make tables
  Index fields = 0;          ///< at which the current was had from the coefficients themselves; 0: no guided search
  double current_error = 0;  ///< of the last table there, over the largest current of the search
  std::vector<ThermalMatrix> by_table;  ///< at the field that was taken, with interpolated coefficients
};

/// What the plasma does there. Vectors have one entry per species.
struct RadialResult {
  double rho = 0;
  double E_r = 0;  ///< V/m
  /// Of the search, which takes the corrected fluxes where a correction was asked for, else those without; the
  /// uncertainty of each is what the electric drift changes of the correction. Where there is no stable root, or only
  /// doubtful ones as near a symmetry, `without_root` is set, and E_r and all that would follow from it are NaN.
  AmbipolarRoots roots;
  SearchRecord search;
  bool without_root = false;
  std::vector<Forces> forces;
  std::vector<ThermalMatrix> L;
  std::vector<Fluxes> fluxes;     ///< without momentum correction
  std::vector<Fluxes> corrected;  ///< with it; empty when none was asked for
  std::vector<double> beyond;     ///< shares of the integrals that stand on coefficients beyond what is known
  std::vector<double> left_out;   ///< shares of energies without an answer, see SpeciesMoments
  /// A correction was asked for, but where flows vary along B (Pfirsch and Schlueter) it has no <U^2> of the source.
  bool without_u2 = false;

  /// <J_par B>/B0 of each species and of all: sum_a q_a U_par,a, A/m^2.
  std::vector<double> current, corrected_current;
  double total_current = 0, corrected_total_current = 0;
  /// What the last Sonine order has changed of corrected_total_current: of the size of what further ones would. NaN at
  /// order 0.
  double sonine_change = 0;
};

/// For how many pairs of collisionality and field the source will be asked, what a direct compute path costs: at the
/// least by an exhaustive search, about that many by a guided one.
[[nodiscard]] Index expected_solves(std::span<const RadialInput> radii, const TransportOptions& options);

/// Every radius on its own, several at a time; ends between fields of the search when asked to stop. Throws
/// Error(bad_input) for a plasma that is not neutral, and what the parts throw, with "while: at rho = ...".
[[nodiscard]] std::vector<RadialResult> radial_transport(const RadialSource& source, std::span<const RadialInput> radii,
                                                         const TransportOptions& options);

/// The integrals of `solved` again from a table, at the same fields (0 where none was found), without momentum
/// correction: what interpolation costs. `radii` as they were solved.
[[nodiscard]] std::vector<RadialResult> interpolated_again(const RadialSource& table, std::vector<RadialInput> radii,
                                                           std::span<const RadialResult> solved,
                                                           TransportOptions options);

}  // namespace sonde::neoclassical
