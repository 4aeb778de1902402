// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

namespace sonde {

/// |g|^2, <g, g before> and |g before|^2 of a gradient and that of the iteration before, in the scalar product of the
/// problem.
struct GradientProducts {
  double now = 0, turned = 0, before = 0;
};

/// All that conjugate gradients keep from one iteration to the next, beside the vectors.
struct ConjugateMemory {
  double step = 0;       ///< the last one; 0 before the first
  bool restart = false;  ///< it was no minimum along its direction: the next direction is the gradient only
  friend bool operator==(const ConjugateMemory&, const ConjugateMemory&) = default;
};

/// How much of the direction before is kept: Polak and Ribiere's beta where it is above zero, "PR+" (Gilbert and
/// Nocedal, SIAM J. Optim. 2 (1992) 21; Nocedal and Wright, Numerical Optimization (2006), eq. 5.45). A beta below
/// zero, the first iteration and a restart give 0.
[[nodiscard]] inline double polak_ribiere(const GradientProducts& of, const ConjugateMemory& memory) {
  return of.before > 0 && !memory.restart ? std::max(0.0, (of.now - of.turned) / of.before) : 0;
}

/// f(x + t d) - f(x) near t = 0: slope t + curvature t^2.
struct Parabola {
  double slope = 0, curvature = 0;
};

/// The minimum of a parabola. Where it does not curve upwards, or rises at once, half of what went well before; and the
/// next direction is the gradient only, or this one would grow from iteration to iteration.
inline double step_along(const Parabola& line, ConjugateMemory& memory) {
  const double step = -line.slope / (2 * line.curvature);
  const bool well = std::isfinite(step) && step > 0;
  memory.step = well ? step : memory.step / 2;
  memory.restart = !well;
  return memory.step;
}

/// One iteration of nonlinear conjugate gradients for vectors that only the problem knows, wherever they are. The
/// problem stands at a point, knows g, minus the gradient there, and carries out
///   GradientProducts products();   of g and of g before
///   void turn(double beta);        direction = beta direction + g, g before = g
///   double step(ConjugateMemory&); how far along the direction; updates the memory (step_along(), a line search)
///   void move(double step);        x += step direction
template <class Problem>
void conjugate_iteration(Problem& problem, ConjugateMemory& memory) {
  problem.turn(polak_ribiere(problem.products(), memory));
  problem.move(problem.step(memory));
}

}  // namespace sonde
