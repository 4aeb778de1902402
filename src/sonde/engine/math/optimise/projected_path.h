// SPDX-License-Identifier: Apache-2.0
// Private to the folder: what the minimisers within bounds have in common.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/engine/math/optimise/bounds.h"
#include "sonde/engine/math/optimise/objective.h"

namespace sonde::detail {

/// Throw Error(bad_input) for bounds, a preconditioner, that do not fit `count` numbers.
template <class Real>
void require_bounds(const Bounds<Real>& bounds, std::size_t count);
template <class Real>
void require_preconditioner(const std::vector<Real>& diagonal, std::size_t count);

/// The nearest number within the bounds of element i.
template <class Real>
[[nodiscard]] Real within(const Bounds<Real>& bounds, std::size_t i, double value);

/// The largest component of x - P(x - gradient).
template <class Real>
[[nodiscard]] double projected_gradient(const Bounds<Real>& bounds, const std::vector<Real>& x,
                                        const std::vector<Real>& gradient);

/// 1, or 0 where an element stays at its bound in this iteration.
template <class Real>
[[nodiscard]] std::vector<Real> free_elements(const Bounds<Real>& bounds, const std::vector<Real>& x,
                                              const std::vector<Real>& gradient);

template <class Real>
struct PathStep {
  std::vector<Real> x, gradient, moved;
  double value = 0;
};

struct PathSettings {
  double decrease = 1e-4;
  Index most_trials = 40;
};

/// From x, where `value` and `gradient` belong, the first of ever shorter steps along P(x + t d), beginning with t =
/// first, whose decrease is a share of what the gradient promises there. Nothing when there is none. `evaluations` is
/// counted up.
template <class Real>
[[nodiscard]] std::optional<PathStep<Real>> search_path(const Objective<Real>& objective, const Bounds<Real>& bounds,
                                                        const PathSettings& settings, const std::vector<Real>& x,
                                                        const std::vector<Real>& gradient, double value,
                                                        const std::vector<Real>& direction, double first,
                                                        Index& evaluations);

}  // namespace sonde::detail
