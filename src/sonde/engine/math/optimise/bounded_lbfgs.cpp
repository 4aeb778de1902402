// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/optimise/bounded_lbfgs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/math/optimise/projected_path.h"
#include "sonde/engine/math/optimise/vectors.h"

namespace sonde {

template <class Real>
BoundedLbfgs<Real>::BoundedLbfgs(Objective<Real> objective, std::vector<Real> start, Bounds<Real> bounds,
                                 const LbfgsSettings& settings, std::vector<Real> preconditioner)
    : objective_(std::move(objective)),
      bounds_(std::move(bounds)),
      settings_(settings),
      preconditioner_(std::move(preconditioner)) {
  detail::require_bounds(bounds_, start.size());
  detail::require_preconditioner(preconditioner_, start.size());
  state_.x = std::move(start);
  for (std::size_t i = 0; i < state_.x.size(); ++i)
    state_.x[i] = detail::within(bounds_, i, static_cast<double>(state_.x[i]));
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
  detail::require_bounds(bounds_, state_.x.size());
  detail::require_preconditioner(preconditioner_, state_.x.size());
}

template <class Real>
double BoundedLbfgs<Real>::projected_gradient() const {
  return detail::projected_gradient(bounds_, state_.x, state_.gradient);
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

/// A step along the projected path; the place is then taken over, and the pair. False when there is none.
template <class Real>
bool BoundedLbfgs<Real>::search(const std::vector<Real>& d, double first) {
  auto step = detail::search_path(objective_, bounds_, {settings_.decrease, settings_.most_trials}, state_.x,
                                  state_.gradient, state_.value, d, first, state_.evaluations);
  if (!step) return false;
  std::vector<Real> change(step->gradient);
  combine<Real>(1, change, -1, state_.gradient);
  // Pairs without curvature would spoil the Hessian (Nocedal and Wright, section 7.2).
  const double along = dot<Real>(step->moved, change);
  if (settings_.memory > 0 && along > std::numeric_limits<Real>::epsilon() * dot<Real>(change, change)) {
    if (static_cast<Index>(state_.pairs.size()) == settings_.memory) state_.pairs.erase(state_.pairs.begin());
    state_.pairs.push_back({std::move(step->moved), std::move(change)});
  }
  state_.x = std::move(step->x);
  state_.gradient = std::move(step->gradient);
  state_.value = step->value;
  return true;
}

template <class Real>
Descent BoundedLbfgs<Real>::iterate() {
  if (projected_gradient() <= settings_.tolerance) return Descent::converged;
  free_ = detail::free_elements(bounds_, state_.x, state_.gradient);
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
