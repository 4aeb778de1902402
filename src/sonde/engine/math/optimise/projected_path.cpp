// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/optimise/projected_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/math/optimise/vectors.h"

namespace sonde::detail {

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

template <class Real>
Real within(const Bounds<Real>& bounds, std::size_t i, double value) {
  const auto number = static_cast<Real>(value);
  return bounds.lower.empty() ? number : std::clamp(number, bounds.lower[i], bounds.upper[i]);
}

template <class Real>
double projected_gradient(const Bounds<Real>& bounds, const std::vector<Real>& x, const std::vector<Real>& gradient) {
  double most = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto at = static_cast<double>(x[i]);
    const auto there = static_cast<double>(within(bounds, i, at - static_cast<double>(gradient[i])));
    most = std::max(most, std::abs(at - there));
  }
  return most;
}

/// Elements nearer to a bound than the projected gradient is long, and pushed there, count as being there: otherwise
/// ever shorter steps would lead from bound to bound (Bertsekas 1982, eq. 32).
template <class Real>
std::vector<Real> free_elements(const Bounds<Real>& bounds, const std::vector<Real>& x,
                                const std::vector<Real>& gradient) {
  std::vector<Real> free(x.size(), 1);
  if (bounds.lower.empty()) return free;
  const auto near = static_cast<Real>(std::min(1e-3, projected_gradient(bounds, x, gradient)));
  for (std::size_t i = 0; i < free.size(); ++i)
    if ((gradient[i] > 0 && x[i] - bounds.lower[i] <= near) || (gradient[i] < 0 && bounds.upper[i] - x[i] <= near))
      free[i] = 0;
  return free;
}

template <class Real>
std::optional<PathStep<Real>> search_path(const Objective<Real>& objective, const Bounds<Real>& bounds,
                                          const PathSettings& settings, const std::vector<Real>& x,
                                          const std::vector<Real>& gradient, double value,
                                          const std::vector<Real>& direction, double first, Index& evaluations) {
  const std::size_t count = direction.size();
  PathStep<Real> step{std::vector<Real>(count), std::vector<Real>(count), std::vector<Real>(count)};
  // Armijo's condition; or, where rounding of the values hides a decrease, that of Hager and Zhang (SIAM J. Optim. 16
  // (2005) 170, eq. 4.1) on the gradients at both ends.
  const auto lower = [&](double promised) {
    if (!std::isfinite(step.value)) return false;
    if (step.value <= value + settings.decrease * promised) return true;
    const double rounding = 4 * std::numeric_limits<Real>::epsilon() * std::abs(value);
    return step.value <= value + rounding &&
           dot<Real>(step.gradient, step.moved) <= (2 * settings.decrease - 1) * promised;
  };
  double t = first;
  for (Index trial = 0; trial < settings.most_trials; ++trial) {
    for (std::size_t i = 0; i < count; ++i) {
      step.x[i] = within(bounds, i, static_cast<double>(x[i]) + t * static_cast<double>(direction[i]));
      step.moved[i] = step.x[i] - x[i];
    }
    const double promised = dot<Real>(gradient, step.moved);
    if (!(promised < 0)) {  // bounds have turned the step: near its beginning they do not
      t *= 0.1;
      continue;
    }
    step.value = objective(step.x, step.gradient);
    ++evaluations;
    if (lower(promised)) return step;
    // The minimum of the parabola through both values with the slope at the beginning, within limits.
    const double rise = step.value - value - promised;
    const double share = std::isfinite(rise) && rise > 0 ? -promised / (2 * rise) : 0.1;
    t *= std::clamp(share, 0.1, 0.5);
  }
  return std::nullopt;
}

template void require_bounds(const Bounds<float>&, std::size_t);
template void require_preconditioner(const std::vector<float>&, std::size_t);
template float within(const Bounds<float>&, std::size_t, double);
template double projected_gradient(const Bounds<float>&, const std::vector<float>&, const std::vector<float>&);
template std::vector<float> free_elements(const Bounds<float>&, const std::vector<float>&, const std::vector<float>&);
template std::optional<PathStep<float>> search_path(const Objective<float>&, const Bounds<float>&, const PathSettings&,
                                                    const std::vector<float>&, const std::vector<float>&, double,
                                                    const std::vector<float>&, double, Index&);

template void require_bounds(const Bounds<double>&, std::size_t);
template void require_preconditioner(const std::vector<double>&, std::size_t);
template double within(const Bounds<double>&, std::size_t, double);
template double projected_gradient(const Bounds<double>&, const std::vector<double>&, const std::vector<double>&);
template std::vector<double> free_elements(const Bounds<double>&, const std::vector<double>&,
                                           const std::vector<double>&);
template std::optional<PathStep<double>> search_path(const Objective<double>&, const Bounds<double>&,
                                                     const PathSettings&, const std::vector<double>&,
                                                     const std::vector<double>&, double, const std::vector<double>&,
                                                     double, Index&);

}  // namespace sonde::detail
