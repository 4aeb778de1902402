// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/instruments/neoclassical/solve/plan.h"

namespace sonde::neoclassical {

/// The largest relative difference of the four coefficients. D31 and D13 count relative to the larger of the first's
/// own and a hundredth of sqrt(D11 D33), which they cannot exceed: where they pass through zero no digit of them is
/// asked.
[[nodiscard]] double relative_difference(const Coefficients& of, const Coefficients& from);

/// How many Legendre modes a case needs is found by trying: N, 3 N / 2, ... until two solutions in a row agree.
struct LegendreSearch {
  double tolerance = 1e-3;  ///< of relative_difference()
  Index first = 0;          ///< the first N tried; 0: from nu_hat, see first_legendre()
  Index most = 400;
};

/// 12 + 1.2 nu_hat^(-1/3), at most 120: layers in pitch get thinner the rarer the collisions.
[[nodiscard]] Index first_legendre(double nu_hat);

struct Adapted {
  Coefficients coefficients;  ///< of the last solve; its n_xi is what was used
  double error = 0;        ///< estimate: the difference from the solve before, an upper bound as long as errors shrink
  bool converged = false;  ///< error <= tolerance; else `most` was reached
};

/// Costs three times the last solve at the most. Throws like Plan::solve(), and Error(bad_input) for a search that
/// makes no sense.
[[nodiscard]] Adapted solve_adapted(const Plan& plan, const Case& at, const LegendreSearch& search,
                                    Plan::Workspace& workspace);

/// What a study refines.
enum class Refined { n_xi, n_theta, n_zeta };
[[nodiscard]] const char* name(Refined refined);

struct StudyRow {
  GridSpec grid;
  Refined refined;
  Coefficients coefficients;
  double change =
      0;  ///< relative_difference() from the row before in this direction; the first is compared with the grid given
};

struct Study {
  Coefficients start;  ///< on the grid given
  std::vector<StudyRow> rows;
  /// The sum over directions of the last change: what is not yet converged on the finest grids.
  double error = 0;
  GridSpec grid;           ///< the coarsest whose next refinement changed less than the tolerance in every direction
  bool converged = false;  ///< error <= tolerance
};

struct StudyOptions {
  std::vector<Refined> refine = {Refined::n_xi, Refined::n_theta, Refined::n_zeta};
  double tolerance = 1e-3;
  int most_steps = 4;  ///< refinements in each direction
};

/// Refines one direction after the other by 4 / 3 (angles stay odd) until the coefficients change by less than a third
/// of the tolerance; each direction starts from the grid the one before has found. Throws like Plan::prepare() and
/// Plan::solve().
[[nodiscard]] Study convergence_study(const Surface& surface, const GridSpec& grid, const Case& at,
                                      const StudyOptions& options = {}, const SolverOptions& solver = {});

}  // namespace sonde::neoclassical
