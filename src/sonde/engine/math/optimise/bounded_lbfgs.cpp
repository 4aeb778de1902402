// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/optimise/bounded_lbfgs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/math/optimise/vectors.h"

namespace sonde {
namespace {

template <class Real>
void require_bounds(const Bounds<Real>& bounds, std::size_t count) {
  if (bounds.lower.empty() && bounds.upper.empty()) return;
  if (bounds.lower.size() != count || bounds.upper.size() != count)
    throw Error(ErrorKind::bad_input, fmt::format("{} lower and {} upper bounds for {} numbers", bounds.lower.size(),
                                                  bounds.upper.size(), count));
  for (std::size_t i = 0; i < count; ++i)
    if (!(bounds.lower[i] <= bounds.upper[i]))
      throw Error(ErrorKind::bad_input, fmt::format("number {}: the lower bound {} is above the upper one, {}", i,
                                                    bounds.lower[i], bounds.upper[i]));
}

template <class Real>
void require_preconditioner(const std::vector<Real>& diagonal, std::size_t count) {
  if (!diagonal.empty() && diagonal.size() != count)
    throw Error(ErrorKind::bad_input, fmt::format("a preconditioner of {} for {} numbers", diagonal.size(), count));
  for (std::size_t i = 0; i < diagonal.size(); ++i)
    if (!(diagonal[i] > 0) || !std::isfinite(diagonal[i]))
      throw Error(ErrorKind::bad_input,
                  fmt::format("number {}: the preconditioner is {}; expected a finite one above 0", i, diagonal[i]));
}

}  // namespace

template <class Real>
BoundedLbfgs<Real>::BoundedLbfgs(Objective<Real> objective, std::vector<Real> start, Bounds<Real> bounds,
                                 const LbfgsSettings& settings, std::vector<Real> preconditioner)
    : objective_(std::move(objective)),
      bounds_(std::move(bounds)),
      settings_(settings),
      preconditioner_(std::move(preconditioner)) {
  require_bounds(bounds_, start.size());
  require_preconditioner(preconditioner_, start.size());
  state_.x = std::move(start);
  for (std::size_t i = 0; i < state_.x.size(); ++i) state_.x[i] = within(i, static_cast<double>(state_.x[i]));
  state_.gradient.resize(state_.x.size());
  state_.value = objective_(state_.x, state_.gradient);
  state_.evaluations = 1;
  if (!std::isfinite(state_.value))
    throw Error(ErrorKind::bad_input, fmt::format("a minimisation begins where its function is {}", state_.value));
}

template <class Real>
BoundedLbfgs<Real>::BoundedLbfgs(Objective<Real> objective, State state, Bounds<Real> bounds,
                                 const LbfgsSettings& settings, std::vector<Real> preconditioner)
    : objective_(std::move(objective)),
      bounds_(std::move(bounds)),
      settings_(settings),
      preconditioner_(std::move(preconditioner)),
      state_(std::move(state)) {
  require_bounds(bounds_, state_.x.size());
  require_preconditioner(preconditioner_, state_.x.size());
}

template <class Real>
Real BoundedLbfgs<Real>::within(std::size_t i, double value) const {
  const auto number = static_cast<Real>(value);
  return bounds_.lower.empty() ? number : std::clamp(number, bounds_.lower[i], bounds_.upper[i]);
}

template <class Real>
double BoundedLbfgs<Real>::projected_gradient() const {
  double most = 0;
  for (std::size_t i = 0; i < state_.x.size(); ++i) {
    const auto x = static_cast<double>(state_.x[i]);
    most = std::max(most, std::abs(x - static_cast<double>(within(i, x - static_cast<double>(state_.gradient[i])))));
  }
  return most;
}

/// Elements nearer to a bound than the projected gradient is long, and pushed there, count as being there: otherwise
/// ever shorter steps would lead from bound to bound (Bertsekas 1982, eq. 32).
template <class Real>
void BoundedLbfgs<Real>::find_fixed() {
  free_.assign(state_.x.size(), 1);
  if (bounds_.lower.empty()) return;
  const auto near = static_cast<Real>(std::min(1e-3, projected_gradient()));
  for (std::size_t i = 0; i < free_.size(); ++i)
    if ((state_.gradient[i] > 0 && state_.x[i] - bounds_.lower[i] <= near) ||
        (state_.gradient[i] < 0 && bounds_.upper[i] - state_.x[i] <= near))
      free_[i] = 0;
}

/// Over elements that are free.
template <class Real>
double BoundedLbfgs<Real>::free_dot(const std::vector<Real>& a, const std::vector<Real>& b) const {
  std::vector<Real> masked(a);
  for (std::size_t i = 0; i < masked.size(); ++i) masked[i] *= free_[i];
  return dot<Real>(masked, b);
}

template <class Real>
void BoundedLbfgs<Real>::precondition(std::vector<Real>& vector) const {
  for (std::size_t i = 0; i < preconditioner_.size(); ++i) vector[i] *= preconditioner_[i];
}

/// Minus H times the gradient for free elements, and the gradient, as long as H makes it, towards their bound for the
/// others.
template <class Real>
std::vector<Real> BoundedLbfgs<Real>::direction() const {
  std::vector<Real> d(state_.gradient);
  for (Real& each : d) each = -each;
  struct Used {
    const Pair* pair;
    double rho, alpha;
  };
  std::vector<Used> used;
  double scale = 1;
  for (auto pair = state_.pairs.rbegin(); pair != state_.pairs.rend(); ++pair) {
    const double along = free_dot(pair->step, pair->change), change2 = free_dot(pair->change, pair->change);
    // Of what is left of a pair by the free elements the curvature may be none.
    if (!(along > std::numeric_limits<Real>::epsilon() * change2)) continue;
    if (used.empty()) {
      std::vector<Real> conditioned(pair->change);
      precondition(conditioned);
      scale = along / free_dot(pair->change, conditioned);
    }
    const double alpha = free_dot(pair->step, d) / along;
    used.push_back({&*pair, 1 / along, alpha});
    combine<Real>(1, d, -alpha, pair->change);
  }
  for (std::size_t i = 0; i < d.size(); ++i)
    d[i] = static_cast<Real>(scale) * (free_[i] != 0 ? d[i] : -state_.gradient[i]);
  precondition(d);
  const std::vector<Real> first = d;
  for (auto each = used.rbegin(); each != used.rend(); ++each)
    combine<Real>(1, d, each->alpha - each->rho * free_dot(each->pair->change, d), each->pair->step);
  for (std::size_t i = 0; i < d.size(); ++i)
    if (free_[i] == 0) d[i] = first[i];
  return d;
}

/// Armijo's condition; or, where rounding of the values hides a decrease, that of Hager and Zhang (SIAM J. Optim. 16
/// (2005) 170, eq. 4.1) on the gradients at both ends.
template <class Real>
bool BoundedLbfgs<Real>::lower(double value, double promised, const std::vector<Real>& gradient,
                               const std::vector<Real>& moved) const {
  if (!std::isfinite(value)) return false;
  if (value <= state_.value + settings_.decrease * promised) return true;
  const double rounding = 4 * std::numeric_limits<Real>::epsilon() * std::abs(state_.value);
  return value <= state_.value + rounding && dot<Real>(gradient, moved) <= (2 * settings_.decrease - 1) * promised;
}

/// The first of ever shorter steps along P(x + t d) whose decrease is a share of what the gradient promises there; the
/// place is then taken over, and the pair. False when there is none.
template <class Real>
bool BoundedLbfgs<Real>::search(const std::vector<Real>& d, double first) {
  const std::size_t count = d.size();
  std::vector<Real> x(count), gradient(count), moved(count);
  double t = first;
  for (Index trial = 0; trial < settings_.most_trials; ++trial) {
    for (std::size_t i = 0; i < count; ++i) {
      x[i] = within(i, static_cast<double>(state_.x[i]) + t * static_cast<double>(d[i]));
      moved[i] = x[i] - state_.x[i];
    }
    const double promised = dot<Real>(state_.gradient, moved);
    if (!(promised < 0)) {  // bounds have turned the step: near its beginning they do not
      t *= 0.1;
      continue;
    }
    const double value = objective_(x, gradient);
    ++state_.evaluations;
    if (lower(value, promised, gradient, moved)) {
      std::vector<Real> change(gradient);
      combine<Real>(1, change, -1, state_.gradient);
      // Pairs without curvature would spoil the Hessian (Nocedal and Wright, section 7.2).
      const double along = dot<Real>(moved, change);
      if (along > std::numeric_limits<Real>::epsilon() * dot<Real>(change, change)) {
        if (static_cast<Index>(state_.pairs.size()) == settings_.memory) state_.pairs.erase(state_.pairs.begin());
        if (settings_.memory > 0) state_.pairs.push_back({std::move(moved), std::move(change)});
      }
      state_.x = std::move(x);
      state_.gradient = std::move(gradient);
      state_.value = value;
      return true;
    }
    // The minimum of the parabola through both values with the slope at the beginning, within limits.
    const double rise = value - state_.value - promised;
    const double share = std::isfinite(rise) && rise > 0 ? -promised / (2 * rise) : 0.1;
    t *= std::clamp(share, 0.1, 0.5);
  }
  return false;
}

template <class Real>
Descent BoundedLbfgs<Real>::iterate() {
  if (projected_gradient() <= settings_.tolerance) return Descent::converged;
  find_fixed();
  const auto first_step = [&](const std::vector<Real>& d) {
    return settings_.first_move / std::sqrt(std::max(dot<Real>(d, d), std::numeric_limits<double>::min()));
  };
  std::vector<Real> d = direction();
  const bool along_gradient = state_.pairs.empty();
  bool found = search(d, along_gradient ? first_step(d) : 1);
  if (!found && !along_gradient) {
    state_.pairs.clear();
    d = direction();
    found = search(d, first_step(d));
  }
  ++state_.iterations;
  if (projected_gradient() <= settings_.tolerance) return Descent::converged;
  return found ? Descent::goes_on : Descent::stalled;
}

template <class Real>
Descent BoundedLbfgs<Real>::run(Index most_iterations) {
  Descent end = projected_gradient() <= settings_.tolerance ? Descent::converged : Descent::goes_on;
  for (Index i = 0; i < most_iterations && end == Descent::goes_on; ++i) end = iterate();
  return end;
}

template class BoundedLbfgs<float>;
template class BoundedLbfgs<double>;

}  // namespace sonde
