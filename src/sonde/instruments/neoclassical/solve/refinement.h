// SPDX-License-Identifier: Apache-2.0
// Private to the room: solutions of float64 with factors of float32.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "sonde/instruments/neoclassical/operators/whole_system.h"
#include "sonde/instruments/neoclassical/solve/assemble.h"
#include "sonde/instruments/neoclassical/solve/elimination.h"

namespace sonde::neoclassical {

/// Generalised conjugate residuals (Eisenstat, Elman, Schultz, SIAM J. Numer. Anal. 20 (1983) 345: GMRES that keeps its
/// directions instead of a Hessenberg matrix) for the whole block-tridiagonal system M u = s in float64; a direction is
/// what factors of float32 make of the residual, forward from k = n_xi down to 0 and back. Where float32 resolves every
/// eigenvalue this is iterative refinement, 5 to 7 digits per step; a few directions that it misses are found one by
/// one. The last eight directions are kept.
class Refinement {
 public:
  static constexpr int most_iterations = 20;
  static constexpr double largest_residual = 1e-11;
  static constexpr int most_slow = 4;  ///< steps in a row that do not halve the residual

  explicit Refinement(const DriftKinetic& equation) : equation_(equation), system_(equation) {}
  static std::size_t bytes(Index points, Index n_xi);

  struct Outcome {
    bool converged = false;  ///< else it stalled, or took too many steps
    int iterations = 0;
    Response radial{}, parallel{};  ///< residuals are of the rows of every k
  };
  /// Both drives, one after the other at each k, while its factors are near. `factors` of all k have been made for this
  /// case. Ends when both residuals are below largest_residual
  /// and `tolerance`, or what the last bits of the solution are worth. Takes memory
  /// when n_xi is larger than it ever was.
  Outcome run(const Case& at, Index n_xi, Elimination& factors, double tolerance);

  /// k = 0, 1, 2 of the solutions of the last run.
  void copy_lowest(std::array<std::vector<double>, 3>& radial, std::array<std::vector<double>, 3>& parallel) const;

 private:
  using Field = std::vector<double>;
  static constexpr std::size_t most_directions = 8;
  struct Direction {
    Field change, effect;  // effect = M change, of length one
  };
  struct Drive {
    Field solution, rest, change, effect;
    std::array<Direction, most_directions> kept;
    double scale = 0;                 // the largest source
    double length = 0, residual = 0;  // of the rest: its 2-norm, and its largest entry over the scale
    bool done = false;
  };

  void reach(Index n_xi);
  void begin(const DriftKinetic::Drive& sources, Drive& drive);
  void precondition(Elimination& factors);
  static void advance(Drive& drive, int iteration);
  [[nodiscard]] double last_bits(const Drive& drive) const;
  [[nodiscard]] Response response(const Drive& drive) const;
  [[nodiscard]] std::span<const double> row(const Field& field, Index k) const;
  [[nodiscard]] std::span<double> row(Field& field, Index k) const;

  const DriftKinetic& equation_;
  WholeSystem system_;
  Index levels_ = 0;  // n_xi + 1 of this run
  std::array<Drive, 2> drives_;
  Field work_, back_;
};

}  // namespace sonde::neoclassical
