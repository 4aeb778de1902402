// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/engine/math/optimise/bounds.h"
#include "sonde/engine/math/optimise/objective.h"

namespace sonde {

/// The Hessian at x, or a positive semi-definite matrix in its place (Gauss and Newton's), times a vector.
template <class Real>
using HessianProduct =
    std::function<void(std::span<const Real> x, std::span<const Real> vector, std::span<Real> product)>;

struct NewtonSettings {
  Index products = 20;      ///< most Hessian products in one iteration
  double tolerance = 1e-6;  ///< of the largest component of x - P(x - gradient), P the projection on the bounds
  double decrease = 1e-4;   ///< of Armijo's condition
  Index most_trials = 40;   ///< steps tried in one iteration
};

/// Minimises a function of many numbers within bounds by projected Newton steps: elements at a bound that the gradient
/// pushes outwards stay there; for the others H d = -gradient is solved by preconditioned conjugate gradients until the
/// residual is below a share of the gradient (Eisenstat and Walker, SIAM J. Sci. Comput. 17 (1996) 16, choice 2 with
/// gamma 0.9 and exponent 2), the curvature is not above 0, or the products are used up (Nocedal and Wright, Numerical
/// Optimization (2006), Algorithm 7.1). Steps are along the projected path, as those of BoundedLbfgs. Eight vectors are
/// kept. One thread at a time.
template <class Real>
class TruncatedNewton {
 public:
  /// All that the next iteration depends on: a run that goes on from it has the same bits.
  struct State {
    std::vector<Real> x, gradient;
    double value = 0;
    double forcing = 0.5;  ///< the share for the next iteration
    Index iterations = 0, evaluations = 0, products = 0;
  };

  /// `preconditioner`: as of BoundedLbfgs. Throws what BoundedLbfgs throws.
  TruncatedNewton(Objective<Real> objective, HessianProduct<Real> hessian, std::vector<Real> start, Bounds<Real> bounds,
                  const NewtonSettings& settings = {}, std::vector<Real> preconditioner = {});
  /// Goes on from state().
  TruncatedNewton(Objective<Real> objective, HessianProduct<Real> hessian, State state, Bounds<Real> bounds,
                  const NewtonSettings& settings = {}, std::vector<Real> preconditioner = {});

  /// One iteration, unless the projected gradient is small already.
  Descent iterate();
  /// Until it does not go on, or for so many iterations.
  Descent run(Index most_iterations);
  [[nodiscard]] const State& state() const { return state_; }
  [[nodiscard]] double projected_gradient() const;

 private:
  [[nodiscard]] std::vector<Real> preconditioned(const std::vector<Real>& vector) const;
  [[nodiscard]] std::vector<Real> direction(const std::vector<Real>& free);

  Objective<Real> objective_;
  HessianProduct<Real> hessian_;
  Bounds<Real> bounds_;
  NewtonSettings settings_;
  std::vector<Real> preconditioner_;
  State state_;
};

}  // namespace sonde
