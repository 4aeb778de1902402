// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/engine/math/optimise/conjugate_iteration.h"
#include "sonde/engine/math/optimise/objective.h"
#include "sonde/engine/math/optimise/wolfe_search.h"

namespace sonde {

struct ConjugateSettings {
  double tolerance = 1e-6;  ///< of the largest component of the gradient
  double first_move = 1;    ///< length of the first step that is tried
  WolfeSettings line{};
};

/// Minimises a function of many numbers by nonlinear conjugate gradients: PR+ (polak_ribiere()) with steps that have
/// the strong conditions of Wolfe, and the gradient as direction where the conjugate one does not lead downwards. Of a
/// quadratic function with exact steps it ends after as many iterations as there are different eigenvalues. Values are
/// compared in double precision. An iteration evaluates the function once or a few times and takes 4 passes over
/// vectors beside; four vectors are kept. One thread at a time.
template <class Real>
class ConjugateGradients {
 public:
  /// All that the next iteration depends on: a run that goes on from it has the same bits.
  struct State {
    std::vector<Real> x, descent, before, direction;  ///< descent: minus the gradient at x; before: at the x before
    double value = 0, slope = 0;                      ///< slope: at the beginning of the last step
    ConjugateMemory memory;
    Index iterations = 0, evaluations = 0;
  };

  /// Begins at `start`. Throws Error(bad_input) when the function is not finite there.
  ConjugateGradients(Objective<Real> objective, std::vector<Real> start, const ConjugateSettings& settings = {});
  /// Goes on from state().
  ConjugateGradients(Objective<Real> objective, State state, const ConjugateSettings& settings = {});

  /// One iteration, unless the gradient is small already.
  Descent iterate();
  /// Until it does not go on, or for so many iterations.
  Descent run(Index most_iterations);
  [[nodiscard]] const State& state() const { return state_; }

 private:
  struct Problem;
  double evaluate(std::span<const Real> x, std::span<Real> descent);
  [[nodiscard]] bool small() const;

  Objective<Real> objective_;
  ConjugateSettings settings_;
  State state_;
};

}  // namespace sonde
