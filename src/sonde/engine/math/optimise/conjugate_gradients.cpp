// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/optimise/conjugate_gradients.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/math/optimise/vectors.h"

namespace sonde {

/// A step of conjugate_iteration().
template <class Real>
struct ConjugateGradients<Real>::Problem {
  ConjugateGradients& of;
  State& now = of.state_;
  std::vector<Real> x{}, descent{};  // where the line search looks
  bool found = false;

  [[nodiscard]] static double inner(const std::vector<Real>& a, const std::vector<Real>& b) {
    return dot<Real>(std::span<const Real>(a), std::span<const Real>(b));
  }

  GradientProducts products() const {
    return {inner(now.descent, now.descent), inner(now.descent, now.before), inner(now.before, now.before)};
  }

  void turn(double beta) {
    combine<Real>(beta, now.direction, 1, now.descent);
    now.before = now.descent;
  }

  double step(ConjugateMemory& memory) {
    double slope = -inner(now.descent, now.direction);
    if (!(slope < 0)) {
      now.direction = now.descent;
      slope = -inner(now.descent, now.descent);
    }
    // As much first-order change as the last step promised (Nocedal and Wright, section 3.5).
    const bool first = !(memory.step > 0) || memory.restart;
    const double guess = first ? of.settings_.first_move / std::sqrt(inner(now.direction, now.direction))
                               : memory.step * now.slope / slope;
    const auto at = [&](double t) {
      x = now.x;
      descent.resize(x.size());
      combine<Real>(1, x, t, now.direction);
      const double value = of.evaluate(x, descent);
      return LinePoint{t, value, -inner(descent, now.direction)};
    };
    const WolfeResult result = strong_wolfe({0, now.value, slope}, guess, of.settings_.line, at);
    found = result.found || result.at.value < now.value;
    memory = {.step = result.at.step, .restart = !result.found};
    now.slope = slope;
    now.value = result.at.value;
    return result.at.step;
  }

  /// The search has been there.
  void move(double step) {
    if (!(step > 0)) return;
    now.x = std::move(x);
    now.descent = std::move(descent);
  }
};

template <class Real>
ConjugateGradients<Real>::ConjugateGradients(Objective<Real> objective, std::vector<Real> start,
                                             const ConjugateSettings& settings)
    : objective_(std::move(objective)), settings_(settings) {
  state_.x = std::move(start);
  state_.descent.resize(state_.x.size());
  state_.before.assign(state_.x.size(), 0);
  state_.direction.assign(state_.x.size(), 0);
  state_.value = evaluate(state_.x, state_.descent);
  if (!std::isfinite(state_.value))
    throw Error(ErrorKind::bad_input, fmt::format("a minimisation begins where its function is {}", state_.value));
}

template <class Real>
ConjugateGradients<Real>::ConjugateGradients(Objective<Real> objective, State state, const ConjugateSettings& settings)
    : objective_(std::move(objective)), settings_(settings), state_(std::move(state)) {}

template <class Real>
double ConjugateGradients<Real>::evaluate(std::span<const Real> x, std::span<Real> descent) {
  ++state_.evaluations;
  const double value = objective_(x, descent);
  for (Real& each : descent) each = -each;
  return value;
}

template <class Real>
bool ConjugateGradients<Real>::small() const {
  return std::all_of(state_.descent.begin(), state_.descent.end(),
                     [&](Real each) { return std::abs(static_cast<double>(each)) <= settings_.tolerance; });
}

template <class Real>
Descent ConjugateGradients<Real>::iterate() {
  if (small()) return Descent::converged;
  const bool along_gradient = state_.memory.restart || state_.iterations == 0;
  Problem problem{*this};
  conjugate_iteration(problem, state_.memory);
  ++state_.iterations;
  if (small()) return Descent::converged;
  return problem.found || !along_gradient ? Descent::goes_on : Descent::stalled;
}

template <class Real>
Descent ConjugateGradients<Real>::run(Index most_iterations) {
  Descent end = small() ? Descent::converged : Descent::goes_on;
  for (Index i = 0; i < most_iterations && end == Descent::goes_on; ++i) end = iterate();
  return end;
}

template class ConjugateGradients<float>;
template class ConjugateGradients<double>;

}  // namespace sonde
