// SPDX-License-Identifier: Apache-2.0
// Private to the room: the solution of one drive from the factors of an elimination.
#pragma once

#include <array>
#include <vector>

#include "sonde/instruments/neoclassical/operators/drift_kinetic.h"
#include "sonde/instruments/neoclassical/solve/assemble.h"
#include "sonde/instruments/neoclassical/solve/elimination.h"

namespace sonde::neoclassical {

/// Solves for u_0, u_1, u_2 and refines them until the rows k = 0, 1, 2 hold within a tolerance.
///
/// Where collisions are rare, u is of the order of 1 / nu_hat and rounding it to double leaves more of a row than
/// 1e-8. Then what is left of the rows is added in long double, and the solution is a sum of two doubles: refinement
/// with a more precise residual (Demmel et al., ACM TOMS 32 (2006) 325). The factors stay those of double.
class Substitution {
 public:
  using Field = std::vector<double>;

  explicit Substitution(const DriftKinetic& equation);
  [[nodiscard]] static std::size_t bytes(Index points);

  /// `elimination` holds the factors of `at`. `u` has room for the points; its last bits beyond double are only
  /// in the response. Allocates nothing.
  Response run(const Case& at, Elimination& elimination, const DriftKinetic::Drive& sources, double tolerance,
               std::array<Field, 3>& u);

 private:
  [[nodiscard]] double refine(const Case& at, Elimination& elimination, const DriftKinetic::Drive& sources,
                              double scale, std::array<Field, 3>& u);
  [[nodiscard]] double refine_precisely(const Case& at, Elimination& elimination, const DriftKinetic::Drive& sources,
                                        double enough, std::array<Field, 3>& u);
  void substitute(const Case& at, Elimination& elimination);
  void remain(const Case& at, Elimination& elimination, const DriftKinetic::Drive& sources,
              const std::array<Field, 3>& u);
  void remain_precisely(const Case& at, Elimination& elimination, const DriftKinetic::Drive& sources,
                        const std::array<Field, 3>& u);

  const DriftKinetic& equation_;
  std::array<Field, 3> rest_;    // sources, then what is left of the rows
  std::array<Field, 3> change_;  // what the rest asks for
  std::array<Field, 3> low_;     // what u lacks of the solution
  Field work_;
  std::vector<long double> precise_, precise_work_;
};

}  // namespace sonde::neoclassical
