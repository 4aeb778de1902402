// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/engine/math/optimise/bounds.h"
#include "sonde/engine/math/optimise/objective.h"

namespace sonde {

struct LbfgsSettings {
  Index memory = 8;         ///< pairs of steps and changes of the gradient; 0: steepest descent
  double tolerance = 1e-6;  ///< of the largest component of x - P(x - gradient), P the projection on the bounds
  double first_move = 1;    ///< length of the first step that is tried
  double decrease = 1e-4;   ///< of Armijo's condition
  Index most_trials = 40;   ///< steps tried in one iteration
};

/// Minimises a function of many numbers within bounds by projected L-BFGS: elements at a bound that the gradient pushes
/// outwards stay there, for the others the inverse Hessian is the limited-memory one of BFGS (Nocedal and Wright,
/// Numerical Optimization (2006), Algorithm 7.4, with pairs restricted to them); the step is along the projected path
/// P(x + t d), shortened until Armijo's condition for such paths holds. The two-metric projection is that of Bertsekas
/// (SIAM J. Control Optim. 20 (1982) 221) in the limited-memory form of Kim, Sra and Dhillon (SIAM J. Sci. Comput. 32
/// (2010) 3548); L-BFGS-B (Byrd, Lu, Nocedal and Zhu, SIAM J. Sci. Comput. 16 (1995) 1190) solves the same problems
/// with a Cauchy point and small dense systems, which are not needed here. An iteration evaluates the function once,
/// seldom more often, and takes about 4 memory + 8 passes over vectors; 2 memory + 4 vectors are kept. One thread at a
/// time.
template <class Real>
class BoundedLbfgs {
 public:
  /// A step and the change of the gradient over it.
  struct Pair {
    std::vector<Real> step, change;
  };
  /// All that the next iteration depends on: a run that goes on from it has the same bits.
  struct State {
    std::vector<Real> x, gradient;
    std::vector<Pair> pairs;  ///< the oldest first
    double value = 0;
    Index iterations = 0, evaluations = 0;
  };

  /// Begins at `start`, moved within the bounds. `preconditioner`: what is known of the inverse Hessian, the diagonal
  /// of a matrix that the pairs then improve, up to a factor; empty: all 1. Throws Error(bad_input) when the function
  /// is not finite there, a lower bound is above the upper one, an element of the preconditioner is not above 0, or the
  /// lengths differ.
  BoundedLbfgs(Objective<Real> objective, std::vector<Real> start, Bounds<Real> bounds,
               const LbfgsSettings& settings = {}, std::vector<Real> preconditioner = {});
  /// Goes on from state().
  BoundedLbfgs(Objective<Real> objective, State state, Bounds<Real> bounds, const LbfgsSettings& settings = {},
               std::vector<Real> preconditioner = {});

  /// One iteration, unless the projected gradient is small already.
  Descent iterate();
  /// Until it does not go on, or for so many iterations.
  Descent run(Index most_iterations);
  [[nodiscard]] const State& state() const { return state_; }
  /// The largest component of x - P(x - gradient): 0 at a minimum.
  [[nodiscard]] double projected_gradient() const;

 private:
  [[nodiscard]] double free_dot(const std::vector<Real>& a, const std::vector<Real>& b) const;
  void precondition(std::vector<Real>& vector) const;
  [[nodiscard]] std::vector<Real> direction() const;
  bool search(const std::vector<Real>& direction, double first);

  Objective<Real> objective_;
  Bounds<Real> bounds_;
  LbfgsSettings settings_;
  std::vector<Real> preconditioner_;
  State state_;
  std::vector<Real> free_;  // 1, or 0 where an element stays at its bound in this iteration
};

}  // namespace sonde
