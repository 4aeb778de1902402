// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/optimise/truncated_newton.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/math/optimise/projected_path.h"
#include "sonde/engine/math/optimise/vectors.h"

namespace sonde {
namespace {

/// Eisenstat and Walker's choice 2, with their safeguard against a share that falls too fast.
double next_forcing(double forcing, double norm, double norm_before) {
  const double ratio = norm / norm_before, guard = 0.9 * forcing * forcing;
  const double wanted = 0.9 * ratio * ratio;
  return std::clamp(guard > 0.1 ? std::max(wanted, guard) : wanted, 1e-6, 0.9);
}

template <class Real>
void mask(std::vector<Real>& vector, const std::vector<Real>& free) {
  for (std::size_t i = 0; i < vector.size(); ++i) vector[i] *= free[i];
}

template <class Real>
double length(const std::vector<Real>& vector) {
  return std::sqrt(dot<Real>(vector, vector));
}

}  // namespace

template <class Real>
TruncatedNewton<Real>::TruncatedNewton(Objective<Real> objective, HessianProduct<Real> hessian, std::vector<Real> start,
                                       Bounds<Real> bounds, const NewtonSettings& settings,
                                       std::vector<Real> preconditioner)
    : TruncatedNewton(std::move(objective), std::move(hessian), State{.x = std::move(start), .gradient = {}},
                      std::move(bounds), settings, std::move(preconditioner)) {
  for (std::size_t i = 0; i < state_.x.size(); ++i)
    state_.x[i] = detail::within(bounds_, i, static_cast<double>(state_.x[i]));
  state_.gradient.resize(state_.x.size());
  state_.value = objective_(state_.x, state_.gradient);
  state_.evaluations = 1;
  if (!std::isfinite(state_.value))
    throw Error(ErrorKind::bad_input, fmt::format("a minimisation begins where its function is {}", state_.value));
}

template <class Real>
TruncatedNewton<Real>::TruncatedNewton(Objective<Real> objective, HessianProduct<Real> hessian, State state,
                                       Bounds<Real> bounds, const NewtonSettings& settings,
                                       std::vector<Real> preconditioner)
    : objective_(std::move(objective)),
      hessian_(std::move(hessian)),
      bounds_(std::move(bounds)),
      settings_(settings),
      preconditioner_(std::move(preconditioner)),
      state_(std::move(state)) {
  detail::require_bounds(bounds_, state_.x.size());
  detail::require_preconditioner(preconditioner_, state_.x.size());
}

template <class Real>
double TruncatedNewton<Real>::projected_gradient() const {
  return detail::projected_gradient(bounds_, state_.x, state_.gradient);
}

template <class Real>
std::vector<Real> TruncatedNewton<Real>::preconditioned(const std::vector<Real>& vector) const {
  std::vector<Real> made(vector);
  for (std::size_t i = 0; i < preconditioner_.size(); ++i) made[i] *= preconditioner_[i];
  return made;
}

/// Of the free elements by conjugate gradients; for the others minus the gradient, which leads to their bound.
template <class Real>
std::vector<Real> TruncatedNewton<Real>::direction(const std::vector<Real>& free) {
  std::vector<Real> residual(state_.gradient), d(residual.size()), product(residual.size());
  for (Real& each : residual) each = -each;
  mask(residual, free);
  const double enough = state_.forcing * length(residual);
  std::vector<Real> z = preconditioned(residual), p = z;
  double rz = dot<Real>(residual, z);
  for (Index i = 0; i < settings_.products && length(residual) > enough; ++i) {
    hessian_(state_.x, p, product);
    ++state_.products;
    mask(product, free);
    const double curvature = dot<Real>(p, product);
    if (!(curvature > 0)) break;
    const double alpha = rz / curvature;
    combine<Real>(1, d, alpha, p);
    combine<Real>(1, residual, -alpha, product);
    z = preconditioned(residual);
    const double rz_before = std::exchange(rz, dot<Real>(residual, z));
    combine<Real>(rz / rz_before, p, 1, z);
  }
  if (length(d) == 0) d = p;  // no curvature along the gradient: the gradient itself
  for (std::size_t i = 0; i < d.size(); ++i)
    if (free[i] == 0) d[i] = -state_.gradient[i];
  return d;
}

template <class Real>
Descent TruncatedNewton<Real>::iterate() {
  if (projected_gradient() <= settings_.tolerance) return Descent::converged;
  const std::vector<Real> free = detail::free_elements(bounds_, state_.x, state_.gradient);
  const auto free_length = [&] {
    std::vector<Real> gradient(state_.gradient);
    mask(gradient, free);
    return length(gradient);
  };
  const double before = free_length();
  auto step = detail::search_path(objective_, bounds_, {settings_.decrease, settings_.most_trials}, state_.x,
                                  state_.gradient, state_.value, direction(free), 1, state_.evaluations);
  ++state_.iterations;
  if (!step) return Descent::stalled;
  state_.x = std::move(step->x);
  state_.gradient = std::move(step->gradient);
  state_.value = step->value;
  if (before > 0) state_.forcing = next_forcing(state_.forcing, free_length(), before);
  return projected_gradient() <= settings_.tolerance ? Descent::converged : Descent::goes_on;
}

template <class Real>
Descent TruncatedNewton<Real>::run(Index most_iterations) {
  Descent end = projected_gradient() <= settings_.tolerance ? Descent::converged : Descent::goes_on;
  for (Index i = 0; i < most_iterations && end == Descent::goes_on; ++i) end = iterate();
  return end;
}

template class TruncatedNewton<float>;
template class TruncatedNewton<double>;

}  // namespace sonde
